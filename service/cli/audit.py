"""``certiset audit``: recomputes what a certificate states from the data, the model and the predictor's file."""

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from certiset.auditing import read_certificate
from certiset.core.certificate import Certificate, Check
from certiset.core.certificate.checks import equal
from certiset.core.display import harmless
from certiset.core.errors import DamagedFileError
from certiset.service.cli.errors import CommandError, read_from
from certiset.service.cli.parsers import add_command
from certiset.service.cli.verify import add_keys, named_keys

_DIFFERS = 1
_EXAMPLES = """examples:
  certiset audit certificate.json --dataset calibration.npz --model manifest.json --predictor predictor.safetensors
  certiset audit certificate.json --dataset calibration.csv --target price --model manifest.json \\
      --model head.safetensors --model scan.onnx --predictor saved-predictor/ --key 4blyrv/f4+hg+4lK...

The predictor's file is what 'certiset predictors download' writes. This needs PyTorch: pip install 'certiset[fit]'.

exit codes: 0 everything agrees, 1 something does not, 2 a file cannot be read
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "audit",
        "Recomputes a certificate from the data: the hashes of all files, the split by the seed, scores, "
        "thresholds at their ranks, and sizes; says line by line what agrees. 'certiset audit-log' shows the log of a "
        "server.",
        _EXAMPLES,
    )
    parser.add_argument("certificate", type=Path, metavar="CERT", help="the certificate, as JSON")
    parser.add_argument("--dataset", type=Path, required=True, metavar="FILE", help="the calibration data")
    parser.add_argument(
        "--target-dataset", type=Path, metavar="FILE", help="the target inputs, if weights were estimated from some"
    )
    parser.add_argument("--target", default="y", metavar="NAME", help="the column or array of y (default y)")
    parser.add_argument(
        "--model",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="the model's manifest (.json), weights (.safetensors) or graph (.onnx); once for each file it has",
    )
    parser.add_argument(
        "--predictor", type=Path, required=True, metavar="FILE", help="the predictor's file, or a saved one's folder"
    )
    add_keys(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    keys = named_keys(options)
    with read_from():
        certificate = read_certificate(options.certificate)
        found = certificate.verify(keys)
        failed = [check for check in found.checks if not check.ok]
        numbers = failed or [Check("certificate's own numbers", True, None, None)]
        checks = [*numbers, *_recomputed(options, certificate)]
    agrees = all(check.ok for check in checks)
    if options.json:
        answer = {"id": certificate.id, "agrees": agrees, "trusted": found.trusted}
        print(json.dumps({**answer, "checks": [vars(check) for check in checks]}, indent=2))
    else:
        print(_sentences(certificate, checks, agrees=agrees, trusted=found.trusted))
    return 0 if agrees else _DIFFERS


def _recomputed(options: argparse.Namespace, certificate: Certificate) -> list[Check]:
    from certiset.core.data.reading import read_dataset  # noqa: PLC0415 (slow to load, and PyTorch may be missing)
    from certiset.core.fit.audit import audit  # noqa: PLC0415

    folder = options.predictor.is_dir()
    file = options.predictor / "predictor.safetensors" if folder else options.predictor
    description = _description(file, folder=folder)
    with options.dataset.open("rb") as stream:
        file_sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    stated = certificate.data.file_sha256 if certificate.data is not None else None
    checks = [equal("data file's SHA-256", stated, file_sha256)] if stated is not None else []
    arrays = read_dataset(options.dataset, options.dataset.name, options.target)
    given = options.target_dataset
    others = None if given is None else read_dataset(given, given.name, None).frame
    model, close = _model(options.model, description["manifest"])
    try:
        return checks + audit(certificate, model, arrays.frame, arrays.truths, file, description, target=others)
    finally:
        close()


def _description(file: Path, *, folder: bool) -> dict[str, Any]:
    """How the predictor's file is to be read."""
    from certiset.core.fit.saved_predictor import DESCRIPTION, description_in, read_description  # noqa: PLC0415

    found = read_description(file.with_name(DESCRIPTION)) if folder else description_in(file)
    if found is None:
        raise DamagedFileError(
            f"{file} was written before such files said how they are to be read: name the saved predictor's folder."
        )
    return found


def _model(files: list[Path], described: dict[str, Any]) -> tuple[Any, Any]:
    """The model, and what ends the process of its graph; the predictor's manifest stands in where none is given."""
    from certiset.core.graphs import GraphHost  # noqa: PLC0415
    from certiset.core.models import Model  # noqa: PLC0415

    given = {file.suffix.lower(): file for file in files}
    unknown = sorted(set(given) - {".json", ".safetensors", ".onnx"})
    if unknown or len(given) < len(files):
        raise CommandError("--model takes one .json, one .safetensors and one .onnx file at most.")
    manifest = given[".json"].read_text() if ".json" in given else described
    graphs = GraphHost()
    model = Model.from_manifest(manifest, given.get(".safetensors"), onnx=given.get(".onnx"), graphs=graphs)
    return model, graphs.close


def _sentences(certificate: Certificate, checks: list[Check], *, agrees: bool, trusted: bool) -> str:
    lines = [certificate.id, certificate.statement, ""]
    for check in checks:
        wrong = "" if check.ok else f": the certificate has {check.expected}, found {check.found}"
        lines.append(f"  {'agrees ' if check.ok else 'DIFFERS'}  {check.name}{wrong}")
    verdict = "Everything agrees with the certificate." if agrees else "This is not what the certificate says."
    if agrees and not trusted:
        verdict += "\nWho signed it was not checked: use --key."
    return "\n".join([*map(harmless, lines), "", verdict])
