"""``certiset certificates``: lists, shows, downloads and verifies the certificates of a server."""

import argparse
from pathlib import Path
from typing import Any

from certiset.core.certificate.group_content import Group
from certiset.core.certificate.rounding import at_most, promise, risk
from certiset.core.certificate.size_cap import cut_clause
from certiset.service.cli.connection import EXIT_CODES, add_action, add_list, add_show
from certiset.service.cli.errors import written_to
from certiset.service.cli.output import View, print_json
from certiset.service.cli.parsers import add_actions, add_command
from certiset.service.client import Certificate, Client

_EXAMPLES = f"""examples:
  certiset certificates list --predictor pred-01jd...
  certiset certificates show cert-1f0c...
  certiset certificates download cert-1f0c... -o certificate.json
  certiset certificates verify cert-1f0c...
  certiset certificates attestation cert-1f0c... -o attestation.json
  certiset certificates status cert-1f0c... -o status.json
  certiset certificates keys > keys.txt

{EXIT_CODES}; verify: 1 the certificate does not hold
"""


def register(subparsers: Any) -> None:
    parser = add_command(
        subparsers,
        "certificates",
        "Certificates: how often a predictor's sets contain the truth, and how large they are.",
        _EXAMPLES,
    )
    actions = add_actions(parser)
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
    attestation = add_action(actions, "attestation", "write it to a file as a signed in-toto statement", _attestation)
    attestation.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    status = add_action(actions, "status", "whether it is in force, contradicted or withdrawn", _status)
    status.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write the signed statement")
    add_action(actions, "keys", "print the public keys that sign, and have signed, certificates there", _keys)
    for child in (download, verify, attestation, status):
        child.add_argument("id", metavar="ID", help="the certificate's id")


def _download(options: argparse.Namespace, client: Client) -> int:
    check = f"check it with: certiset verify {options.output} --key KEY"
    return _save(options, client.certificates.download(options.id), f"{options.id} is in {options.output}; {check}")


def _attestation(options: argparse.Namespace, client: Client) -> int:
    said = f"The attestation of {options.id} is in {options.output}."
    return _save(options, client.certificates.attestation(options.id), said)


def _status(options: argparse.Namespace, client: Client) -> int:
    content = client.certificates.signed_status(options.id)
    if options.output is not None:
        _write(options.output, content)
    word = client.certificates.read_status(content)
    if options.json:
        print_json(word.model_dump())
    else:
        print(f"{word.certificate_id}  {word.status}  at {word.at}: {word.misses} misses of {word.outcomes} outcomes")
    return 0


def _keys(options: argparse.Namespace, client: Client) -> int:
    keys = client.certificates.keys()
    if options.json:
        print_json({"items": [key.model_dump() for key in keys]})
    else:
        print("\n".join(f"# {key.id}, {key.status}\n{key.public_key}" for key in keys))
    return 0


def _save(options: argparse.Namespace, content: bytes, said: str) -> int:
    _write(options.output, content)
    print_json({"id": options.id, "file": str(options.output), "bytes": len(content)}) if options.json else print(said)
    return 0


def _write(file: Path, content: bytes) -> None:
    with written_to(file):
        file.write_bytes(content)


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
    share = "all alpha" if certificate.all_levels else promise(coverage.alpha)
    promised = f"{share} by {coverage.bound} with n = {coverage.n}"
    return f"{certificate.id}  {certificate.predictor_id}  {promised}  {certificate.issued_at}"


def _text(certificate: Certificate) -> str:
    coverage, size = certificate.coverage, certificate.efficiency
    budget = f" of {coverage.kl_budget:.4g}" if coverage.kl_budget is not None else ""
    around = f" at alpha = {coverage.alpha:g}, one of all levels" if certificate.all_levels else ""
    lines = [certificate.id, certificate.statement, ""]
    lines += [f"Caveat: {caveat.message}" for caveat in certificate.caveats]
    lines += [certificate.account.statement] if certificate.account is not None else []
    lines += [certificate.deployment.statement] if certificate.deployment is not None else []
    lines += ["This holds if:"]
    lines += [f"  {assumption}" for assumption in certificate.assumptions]
    lines += [
        "",
        f"coverage    at least {promise(coverage.alpha)}{around}, except with probability {risk(coverage.delta)}",
        f"            ({coverage.bound}, {coverage.guarantee}, n = {coverage.n}, k = {coverage.k},",
        f"            KL {coverage.kl:.4g}{budget} nats)",
        f"size        {size.empirical:.4g} on the calibration data, in {size.measure}",
    ]
    if certificate.size_statement is not None:
        lines.append(f"            {certificate.size_statement}")
    elif size.upper_bound is not None:
        cut = "" if size.cap is None else cut_clause(size.measure, size.cap)
        most = at_most(size.upper_bound)
        lines.append(f"            at most {most}{cut}, except with probability {risk(size.gamma)}")
    if coverage.sizes is not None:
        chances = ", ".join(f"{weight:.4g}" for weight in coverage.rank_weights)
        lines.append(f"members     {len(coverage.sizes)}, served with chances of {chances}")
    lines += [_group_line(group) for group in certificate.groups or ()]
    lines += [f"predictor   {certificate.predictor_id}", f"issued      {certificate.issued_at}"]
    return "\n".join(lines)


def _group_line(group: Group) -> str:
    name = f"group       {', '.join(group.name)}: n = {group.n}"
    if not group.k:
        return f"{name}, too few for a threshold: {group.lacking} more are needed"
    size = "" if group.size is None else f", mean size {group.size:.4g}"
    most = "" if group.upper_bound is None else f", at most {at_most(group.upper_bound)} certified"
    return f"{name}, k = {group.k}{size}{most}"


_VIEW = View("certificates", _line, lambda certificate: certificate.document, _text)
