"""``certiset models``: uploads, lists and deletes models to calibrate."""

import argparse
import json
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_action, add_records
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import View
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Client, Model

_EXAMPLES = f"""examples:
  certiset models upload --manifest '{{"name": "logits", "task": "classification", "classes": 10, "input_shape": [10]}}'
  certiset models upload --manifest digits.json --weights digits.safetensors
  certiset models upload --manifest scan.json --weights head.safetensors --onnx scan.onnx
  certiset models list
  certiset models delete mod-01jd...

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers, "models", "Models: a manifest that describes inputs and outputs, and the weights.", _EXAMPLES
    )
    actions = add_actions(parser)
    upload = add_action(actions, "upload", "upload a model; uploading the same one again gives the same model", _upload)
    upload.add_argument("--manifest", required=True, metavar="FILE|JSON", help="a JSON file, or the JSON itself")
    upload.add_argument("--weights", type=Path, metavar="FILE", help=".safetensors")
    upload.add_argument("--onnx", "--backbone", type=Path, metavar="FILE", help=".onnx")
    add_records(
        actions, _VIEW, lambda client: client.models, "delete a model; predictors and certificates made with it remain"
    )


def _upload(options: argparse.Namespace, client: Client) -> int:
    made = client.models.upload(_manifest(options.manifest), weights=options.weights, onnx=options.onnx)
    return _VIEW.print_line(made, options)


def _manifest(given: str) -> dict[str, Any]:
    text = given if given.lstrip().startswith("{") else Path(given).read_text()
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise CommandError(f"The manifest is not JSON: {error}.") from None
    if not isinstance(manifest, dict):
        raise CommandError("The manifest must be an object with named fields.")
    return manifest


def _line(model: Model) -> str:
    shape = "x".join(str(side) for side in model.input_shape)
    what = f"{model.task} of {shape}" + (f" into {model.classes} classes" if model.classes else "")
    return f"{model.id}  {what}  {model.name}"


_VIEW = View("models", _line, Model.model_dump)
