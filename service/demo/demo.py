"""The demo from beginning to end, against a server that is there."""

import time
from dataclasses import asdict
from typing import Any

from service.client import Client
from service.demo.problem import Problem
from service.demo.running import Row, finish, measure, start_fits
from service.demo.telling import Teller

_SHOWN_INPUTS = (-0.8, 0.8)


def run_demo(client: Client, tell: Teller) -> list[Row]:
    problems = _trained(tell)
    fits = [fit for problem in problems for fit in start_fits(client, problem)]
    tell.say(f"Calibrating: {len(fits)} fits through the worker.\n")
    done = []
    for fit in fits:
        ended, certificate = finish(client, fit, tell.bar_of(fit))
        tell.certified(fit, certificate, was_there=fit.calibration.finished)
        done.append((fit, ended, certificate))
    tell.say("\nWhat is promised:\n")
    for fit, _, certificate in done:
        tell.statement(fit, certificate)
    tell.say("\nWhat a client gets:\n")
    for problem in problems:
        best = next(certificate for fit, _, certificate in done if (fit.problem, fit.method) == (problem, "pac_bayes"))
        _ask(client, problem, best.predictor_id, tell)
    rows = [measure(client, fit, certificate) for fit, _, certificate in done]
    tell.say("\nPromised, and measured on rows that nobody has seen before:\n")
    tell.table(rows)
    return rows


def _trained(tell: Teller) -> list[Problem]:
    tell.say("Training two small base models: the paper's toy regression, and digits.")
    begin = time.monotonic()
    from service.demo.digits import digits  # noqa: PLC0415 (torch and scikit-learn take a second or two to load)
    from service.demo.toy import toy  # noqa: PLC0415

    problems = [toy(), digits()]
    seconds = time.monotonic() - begin
    sizes = ", ".join(f"{problem.title}: {len(problem.x)}" for problem in problems)
    tell.say(f"Trained in {seconds:.1f} s. Uploading calibration rows ({sizes}).")
    return problems


def _ask(client: Client, problem: Problem, predictor: str, tell: Teller) -> None:
    if problem.name == "toy":
        for x in _SHOWN_INPUTS:
            tell.asked(f"{x:g}", client.predict_set(predictor, x))
    else:
        image = problem.test_x[0].tolist()
        tell.asked(f"{image[0]:.2f},{image[1]:.2f},…  (a {problem.test_y[0]})", client.predict_set(predictor, image))


def rows_json(rows: list[Row]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]
