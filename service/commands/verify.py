"""``certiset verify``: whether a certificate's promises follow from its numbers; needs no network, data or model."""

import argparse
import base64
import json
from pathlib import Path
from typing import Any

from core.certificate import Certificate, Verification
from core.certificate.signing import signed_by
from core.errors import DamagedFileError
from service.commands.errors import CommandError

_LARGEST_FILE = 64 * 2**20
_KEY_BYTES = 32
_EXAMPLES = """examples:
  certiset verify certificate.json
  certiset verify certificate.json --key 4blyrv/f4+hg+4lKutlPMM55+ZJnBnUf/0fO3EcYGAI=
  certiset verify predictor.json --json

exit codes: 0 every check passed, 1 some check failed, 2 the file is not a certificate
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "verify",
        description="Recomputes every promise of a certificate from the numbers that it states, and checks its "
        "signature if there is one; only with --key does that say who issued it. FILE is a certificate, or the "
        "predictor.json of a saved predictor.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the certificate, as JSON")
    parser.add_argument("--key", metavar="KEY", help="the issuer's public key, in base64: only its signature will do")
    parser.add_argument("--json", action="store_true", help="print JSON instead of sentences")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    certificate = _read(options.file)
    if options.key is not None and not _is_key(options.key):
        raise CommandError("--key must be an Ed25519 public key: 32 bytes, in base64.")
    answer = certificate.verify(options.key)
    if options.json:
        print(json.dumps({"id": certificate.id, **answer.to_json()}, indent=2))
    else:
        print(_sentences(certificate, answer, trusted=options.key is not None))
    return 0 if answer.valid else 1


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _KEY_BYTES
    except ValueError:
        return False


def _read(file: Path) -> Certificate:
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise CommandError(f"{file} is larger than {_LARGEST_FILE // 2**20} MiB, which no certificate is.")
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{file} is not JSON: {error}.") from None
    inner = content.get("certificate", content) if isinstance(content, dict) else content
    try:
        return Certificate.from_json(inner)
    except DamagedFileError as error:
        raise CommandError(f"{file} is not a certificate: {error}") from None


def _sentences(certificate: Certificate, answer: Verification, *, trusted: bool) -> str:
    lines = [certificate.id, certificate.statement, ""]
    lines += [f"  {'ok    ' if check.ok else 'FAILED'}  {check.name}" for check in answer.checks]
    lines += [
        f"          {check.name}: expected {check.expected}, found {check.found}"
        for check in answer.checks
        if not check.ok
    ]
    passed = "All checks passed."
    signer = signed_by(certificate)
    if not trusted and signer is not None:
        passed += f"\nIt is signed by the key {signer}; whose key that is, only --key can tell."
    verdict = passed if answer.valid else "This certificate does not hold: do not rely on it."
    return "\n".join([*lines, "", verdict])
