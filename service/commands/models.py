"""``certiset models``: models to calibrate, sent to a server and listed."""

import argparse
import json
from pathlib import Path
from typing import Any

from service.client import Client, Model
from service.commands.connection import EXIT_CODES, add_action, print_fields, print_json
from service.commands.errors import CommandError

_EXAMPLES = f"""examples:
  certiset models upload --manifest '{{"name": "logits", "task": "classification", "classes": 10, "input_shape": [10]}}'
  certiset models upload --manifest digits.json --weights digits.safetensors
  certiset models upload --manifest scan.json --weights head.safetensors --backbone scan.onnx
  certiset models list

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "models",
        description="Models: a manifest that says what goes in and comes out, and the weights.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    upload = add_action(actions, "upload", "send a model; the same one again is the same model", _upload)
    upload.add_argument("--manifest", required=True, metavar="FILE|JSON", help="a file of JSON, or the JSON itself")
    upload.add_argument("--weights", type=Path, metavar="FILE", help=".safetensors")
    upload.add_argument("--backbone", type=Path, metavar="FILE", help=".onnx")
    add_action(actions, "list", "all of them, newest first", _list)
    show = add_action(actions, "show", "all about one", _show)
    show.add_argument("id", metavar="ID", help="the model's id")


def _upload(options: argparse.Namespace, client: Client) -> int:
    made = client.models.upload(_manifest(options.manifest), weights=options.weights, backbone=options.backbone)
    print_json(made.model_dump()) if options.json else print(_line(made))
    return 0


def _list(options: argparse.Namespace, client: Client) -> int:
    found = list(client.models.list())
    if options.json:
        print_json([model.model_dump() for model in found])
    elif not found:
        print("There are no models.")
    else:
        for model in found:
            print(_line(model))
    return 0


def _show(options: argparse.Namespace, client: Client) -> int:
    found = client.models.get(options.id).model_dump()
    print_json(found) if options.json else print_fields(found)
    return 0


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
    return f"{model.id}  {what}  {model.name}".rstrip()
