"""``certiset certificates``: lists, shows, downloads and verifies the certificates of a server."""

import argparse
from pathlib import Path
from typing import Any

from certiset.service.cli.connection import EXIT_CODES, add_action, add_list, add_show
from certiset.service.cli.errors import CommandError
from certiset.service.cli.output import View, print_json
from certiset.service.client import Certificate, Client

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
        description="Certificates: how often a predictor's sets contain the truth, and how large they are.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = add_list(
        actions, _VIEW, lambda client: client.certificates, ("predictor", "dataset", "model", "validity")
    )
    listing.add_argument("--predictor", metavar="ID", help="only certificates of this predictor")
    listing.add_argument("--dataset", metavar="ID", help="only certificates made with this dataset")
    listing.add_argument("--model", metavar="ID", help="only certificates made with this model")
    listing.add_argument(
        "--validity", choices=("consistent", "contradicted", "withdrawn"), help="only certificates with this status"
    )
    add_show(actions, _VIEW, lambda client: client.certificates, "show its statement, assumptions and numbers")
    download = add_action(actions, "download", "write it to a file, for 'certiset verify'", _download)
    download.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    verify = add_action(actions, "verify", "have the server recompute its promises and check its signature", _verify)
    for child in (download, verify):
        child.add_argument("id", metavar="ID", help="the certificate's id")


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
            print("Outcomes reported since then contradict it.")
        elif answer.status == "withdrawn":
            print("Its predictor was deleted, and is no longer served.")
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


_VIEW = View("certificates", _line, lambda certificate: certificate.document, _text)
