"""``certiset verify``: whether a certificate's promises follow from its numbers; needs no network, data or model."""

import argparse
import json
from pathlib import Path
from typing import Any

from certiset.auditing import is_public_key, read_certificate
from certiset.core.certificate import Certificate, Verification
from certiset.core.certificate.signing import signed_by
from certiset.service.cli.errors import CommandError

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
        "signature if there is one; only --key tells who issued it. FILE is a certificate, or the "
        "predictor.json of a saved predictor.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the certificate, as JSON")
    parser.add_argument(
        "--key", metavar="KEY", help="the issuer's public key, in base64; only signatures by this key are accepted"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        certificate = read_certificate(options.file)
    except OSError as error:
        raise CommandError(f"{options.file} cannot be read: {error.strerror}.") from None
    if options.key is not None and not is_public_key(options.key):
        raise CommandError("--key must be an Ed25519 public key: 32 bytes, in base64.")
    found = certificate.verify(options.key)
    if options.json:
        print(json.dumps({"id": certificate.id, **found.to_json()}, indent=2))
    else:
        print(_sentences(certificate, found, trusted=options.key is not None))
    return 0 if found.valid else 1


def _sentences(certificate: Certificate, found: Verification, *, trusted: bool) -> str:
    lines = [certificate.id, certificate.statement, ""]
    lines += [f"  {'ok    ' if check.ok else 'FAILED'}  {check.name}" for check in found.checks]
    lines += [
        f"          {check.name}: expected {check.expected}, found {check.found}"
        for check in found.checks
        if not check.ok
    ]
    passed = "All checks passed."
    signer = signed_by(certificate)
    if not trusted and signer is not None:
        passed += f"\nIt is signed by the key {signer}; use --key to check the issuer."
    verdict = passed if found.valid else "This certificate does not hold: do not rely on it."
    return "\n".join([*lines, "", verdict])
