"""``certiset deployments``: names that stand for predictors."""

import argparse
from typing import Any

from certiset.core.certificate.rounding import risk
from certiset.service.cli.connection import EXIT_CODES, add_action, add_list
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import View, print_json
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Client, Deployment, DeploymentEvent, DeploymentVersion

_EXAMPLES = f"""examples:
  certiset deployments set fraud pred-1f0c...
  certiset deployments set fraud pred-1f0c... --every 500 --on-contradiction --spend 0.05/20
  certiset deployments set fraud pred-1f0c... --every P30D
  certiset deployments list
  certiset deployments history fraud
  certiset deployments rollback fraud
  certiset predict fraud --x 0.1,0.2

{EXIT_CODES}
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "deployments",
        "Deployments: names that clients use in place of a predictor's id. A switch is everywhere within seconds.",
        _EXAMPLES,
    )
    actions = add_actions(parser)
    add_list(actions, _VIEW, lambda client: client.deployments)
    named = {
        "show": ("show one in full", _show),
        "set": ("make a name stand for a predictor", _set),
        "history": ("what a name stood for when", _history),
        "events": ("what happened to it so far, and what happens until Ctrl-C", _events),
        "rollback": ("go back to the predictor that it stood for before", _roll_back),
        "delete": ("the name stands for nothing any more; predictors stay", _delete),
    }
    children = {name: add_action(actions, name, sentence, act) for name, (sentence, act) in named.items()}
    for child in children.values():
        child.add_argument("name", metavar="NAME", help="of the deployment")
    children["set"].add_argument("predictor", metavar="PREDICTOR", help="the predictor's id")
    children["set"].add_argument(
        "--every", metavar="WHEN", help="calibrate anew after so many reported outcomes, or a duration such as P30D"
    )
    children["set"].add_argument(
        "--on-contradiction", action="store_true", help="begin a new block of outcomes when the monitor contradicts"
    )
    children["set"].add_argument(
        "--population",
        choices=["served"],
        help="served: calibrate anew for what is asked, though the first predictor is for another population than that "
        "of its rows (weights, prevalences, target inputs)",
    )
    children["set"].add_argument(
        "--spend",
        metavar="TOTAL/OVER",
        help="a risk that all predictors share, such as 0.05/20 (default: each its own)",
    )
    children["rollback"].add_argument("--to", type=int, metavar="VERSION", help="to the predictor of this version")
    for name in ("set", "rollback"):
        children[name].add_argument(
            "--if-version", type=int, metavar="VERSION", help="only if it is at this version, as you have seen it"
        )


def _show(options: argparse.Namespace, client: Client) -> int:
    return _VIEW.print_one(client.deployments.get(options.name), options)


def _set(options: argparse.Namespace, client: Client) -> int:
    recalibrate = None
    if options.every is not None:
        every: Any = {"rows": int(options.every)} if options.every.isdecimal() else options.every
        recalibrate = {"every": every, "on_contradiction": options.on_contradiction}
        recalibrate |= {} if options.population is None else {"population": options.population}
    elif options.on_contradiction or options.population:
        raise CommandError(f"--{'on-contradiction' if options.on_contradiction else 'population'} needs --every.")
    found = client.deployments.set(
        options.name,
        options.predictor,
        recalibrate=recalibrate,
        spend=None if options.spend is None else _spend(options.spend),
        version=options.if_version,
    )
    return _VIEW.print_line(found, options)


def _spend(text: str) -> dict[str, Any]:
    total, _, over = text.partition("/")
    try:
        return {"total": float(total), "over": int(over)}
    except ValueError:
        raise CommandError(f"--spend must be TOTAL/OVER, such as 0.05/20, not {text!r}.") from None


def _history(options: argparse.Namespace, client: Client) -> int:
    return _HISTORY.print_list(client.deployments.history(options.name), options)


def _events(options: argparse.Namespace, client: Client) -> int:
    for event in client.deployments.events(options.name):
        print_json(event.model_dump()) if options.json else print(_event_line(event), flush=True)
    return 0


def _roll_back(options: argparse.Namespace, client: Client) -> int:
    return _VIEW.print_line(client.deployments.roll_back(options.name, options.to, version=options.if_version), options)


def _delete(options: argparse.Namespace, client: Client) -> int:
    client.deployments.delete(options.name)
    print_json({"deleted": options.name}) if options.json else print(f"{options.name} was deleted.")
    return 0


def _line(deployment: Deployment) -> str:
    spent = f"{deployment.predictors} predictors with a risk of {risk(min(deployment.delta_all, 1.0))} in all"
    when = f"version {deployment.version} since {deployment.since}"
    return f"{deployment.name}  {deployment.predictor}  {deployment.certificate_status}  {when}  {spent}"


def _version_line(version: DeploymentVersion) -> str:
    until = "" if version.until is None else f" until {version.until}"
    return f"{version.version}  {version.predictor or '-'}  {version.how}  since {version.since}{until}"


def _event_line(event: DeploymentEvent) -> str:
    told = "" if not event.details else "  " + "  ".join(f"{name}: {value}" for name, value in event.details.items())
    return f"{event.at}  {event.kind}  version {event.version}  {event.predictor}{told}"


_VIEW = View("deployments", _line, Deployment.model_dump)
_HISTORY = View("versions", _version_line, DeploymentVersion.model_dump)
