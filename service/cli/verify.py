"""``certiset verify``: whether a certificate's promises hold and who has signed them; no network, data or model."""

import argparse
import json
from pathlib import Path
from typing import Any

from certiset import auditing
from certiset.core.certificate import Certificate, SizeStatement, Verification
from certiset.core.certificate.public_keys import is_public_key, read_keys
from certiset.core.display import harmless
from certiset.service.cli.errors import CommandError, read_from
from certiset.service.cli.parsers import add_command

DOES_NOT_HOLD = 1
NOT_SIGNED_BY_THEM = 3
_LARGEST_KEYS = 2**20
_EXAMPLES = """examples:
  certiset verify certificate.json --key 4blyrv/f4+hg+4lKutlPMM55+ZJnBnUf/0fO3EcYGAI=
  certiset verify certificate.json --keys keys.json
  certiset verify saved-predictor/ --keys keys.txt --json

exit codes: 0 the numbers hold, and a key that you named has signed them; 1 they do not hold; 2 the file is not a
certificate; 3 the numbers hold, but nobody that you named has signed them
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "verify",
        "Recomputes every promise of a certificate from the numbers that it states, and checks who has "
        "signed it. Numbers alone prove nothing, since anybody can compute them: name the keys that you trust. FILE is "
        "a certificate, or the folder of a saved predictor, whose tensors are then checked, too.",
        _EXAMPLES,
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="the certificate or statement about sizes, as JSON, or a saved predictor",
    )
    add_keys(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=run)


def add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--key",
        action="append",
        metavar="KEY",
        help="the issuer's public key, in base64, as you have it from the issuer; may be given more than once",
    )
    parser.add_argument(
        "--keys",
        type=Path,
        metavar="FILE",
        help="a file of such keys: one per line, or what GET /certificates/keys answers",
    )


def named_keys(options: argparse.Namespace) -> list[str] | None:
    """The keys that the reader trusts; None if none were named."""
    if options.key is None and options.keys is None:
        return None
    if not all(map(is_public_key, options.key or ())):
        raise CommandError("--key must be an Ed25519 public key: 32 bytes, in base64.")
    if options.keys is None:
        return list(options.key)
    with read_from(options.keys):
        if options.keys.stat().st_size > _LARGEST_KEYS:
            raise CommandError(f"{options.keys} is too large for a file of keys.")
        content = options.keys.read_bytes()
    return [*(options.key or ()), *read_keys(content, str(options.keys))]


def run(options: argparse.Namespace) -> int:
    keys = named_keys(options)
    with read_from(options.file):
        certificate, beside = auditing.read(options.file)
    found = certificate.verify(keys).beside(beside)
    if options.json:
        print(json.dumps({"id": certificate.id, **found.to_json()}, indent=2))
    else:
        print(_sentences(certificate, found))
    if not found.holds:
        return DOES_NOT_HOLD
    return 0 if found.trusted else NOT_SIGNED_BY_THEM


def _sentences(certificate: Certificate | SizeStatement, found: Verification) -> str:
    sizes = certificate.size_statement if isinstance(certificate, Certificate) else None
    said = [certificate.statement, sizes, certificate.account and certificate.account.statement]
    deployed = certificate.deployment if isinstance(certificate, Certificate) else None
    said.append(None if deployed is None else deployed.statement)
    lines = [certificate.id, *(sentence for sentence in said if sentence)]
    lines += [f"Caveat: {caveat.message}" for caveat in certificate.caveats]
    lines.append("")
    lines += [f"  {'ok    ' if check.ok else 'FAILED'}  {check.name}" for check in found.checks]
    lines += [
        f"          {check.name}: expected {check.expected}, found {check.found}"
        for check in found.checks
        if not check.ok
    ]
    # Whoever forged a file could otherwise write a verdict of his own, and hide this one.
    return "\n".join([*map(harmless, lines), "", found.verdict])
