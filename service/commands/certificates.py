"""``certiset certificates``: what was promised, read from a server, kept and checked."""

import argparse
from pathlib import Path
from typing import Any

from service.client import Certificate, Client
from service.commands.connection import EXIT_CODES, add_action, print_json
from service.commands.errors import CommandError

_EXAMPLES = f"""examples:
  certiset certificates list --predictor pred-01jd...
  certiset certificates show cert-1f0c...
  certiset certificates download cert-1f0c... -o certificate.json
  certiset certificates verify cert-1f0c...

{EXIT_CODES}; verify: 1 the certificate does not hold
"""


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "certificates",
        description="Certificates: what a predictor's sets are promised to contain, and how large they are.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = add_action(actions, "list", "all of them, newest first", _list)
    listing.add_argument("--predictor", metavar="ID", help="only this predictor's")
    listing.add_argument("--dataset", metavar="ID", help="only those made with this dataset")
    listing.add_argument("--model", metavar="ID", help="only those made with this model")
    listing.add_argument("--validity", choices=("consistent", "contradicted"), help="only those that outcomes treat so")
    show = add_action(actions, "show", "its sentence, its assumptions and its numbers", _show)
    download = add_action(actions, "download", "write it to a file, for 'certiset verify'", _download)
    download.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    verify = add_action(actions, "verify", "have the server recompute its promises and check its signature", _verify)
    for child in (show, download, verify):
        child.add_argument("id", metavar="ID", help="the certificate's id")


def _list(options: argparse.Namespace, client: Client) -> int:
    asked = {name: getattr(options, name) for name in ("predictor", "dataset", "model", "validity")}
    found = list(client.certificates.list(**asked))
    if options.json:
        print_json([certificate.document for certificate in found])
    elif not found:
        print("There are no certificates.")
    else:
        for certificate in found:
            print(_line(certificate))
    return 0


def _show(options: argparse.Namespace, client: Client) -> int:
    certificate = client.certificates.get(options.id)
    print_json(certificate.document) if options.json else print(_text(certificate))
    return 0


def _download(options: argparse.Namespace, client: Client) -> int:
    content = client.certificates.download(options.id)
    try:
        options.output.write_bytes(content)
    except OSError as error:
        raise CommandError(f"{options.output} cannot be written: {error.strerror}.") from None
    if options.json:
        print_json({"id": options.id, "file": str(options.output), "bytes": len(content)})
    else:
        print(f"{options.id} is in {options.output}; check it with: certiset verify {options.output}")
    return 0


def _verify(options: argparse.Namespace, client: Client) -> int:
    answer = client.certificates.verify(options.id)
    if options.json:
        print_json({"id": options.id, **answer.model_dump()})
    else:
        for check in answer.checks:
            wrong = "" if check.ok else f": expected {check.expected}, found {check.found}"
            print(f"  {'ok    ' if check.ok else 'FAILED'}  {check.name}{wrong}")
        print(f"\n{'All checks passed.' if answer.valid else 'This certificate does not hold: do not rely on it.'}")
        if answer.status == "contradicted":
            print("Outcomes that were reported since contradict it.")
    return 0 if answer.valid else 1


def _line(certificate: Certificate) -> str:
    coverage = certificate.coverage
    promise = f"{100 * (1 - coverage.alpha):g} % by {coverage.bound} with n = {coverage.n}"
    return f"{certificate.id}  {certificate.predictor_id}  {promise}  {certificate.issued_at}"


def _text(certificate: Certificate) -> str:
    coverage, size = certificate.coverage, certificate.efficiency
    budget = f" of {coverage.kl_budget:.4g}" if coverage.kl_budget is not None else ""
    lines = [certificate.id, certificate.statement, "", "This holds if:"]
    lines += [f"  {assumption}" for assumption in certificate.assumptions]
    lines += [
        "",
        f"coverage    at least {1 - coverage.alpha:.4g}, except with probability {coverage.delta:g} ({coverage.bound},",
        f"            {coverage.guarantee}, n = {coverage.n}, k = {coverage.k}, KL {coverage.kl:.4g}{budget} nats)",
        f"size        {size.empirical:.4g} on the calibration data, in {size.measure}",
    ]
    if size.upper_bound is not None:
        lines.append(f"            at most {size.upper_bound:.4g}, except with probability {size.gamma:g}")
    lines += [f"predictor   {certificate.predictor_id}", f"issued      {certificate.issued_at}"]
    return "\n".join(lines)
