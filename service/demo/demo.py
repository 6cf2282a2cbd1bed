"""The demo from beginning to end, against a running server."""

import time

from certiset.service.client import Client
from certiset.service.demo.afterwards import BLOCK, drift, recalibrated
from certiset.service.demo.console import Console
from certiset.service.demo.problem import DemoProblem
from certiset.service.demo.workflow import DEFAULT, METHODS, DemoResult, finish, measure, start_fits


def run_demo(client: Client, console: Console) -> list[DemoResult]:
    problems = _trained(console)
    fits = [fit for problem in problems for fit in start_fits(client, problem)]
    console.say(f"Calibrating: {len(fits)} fits through the worker, each problem by {len(METHODS)} methods.\n")
    console.methods(METHODS)
    done = []
    for fit in fits:
        ended, certificate = finish(client, fit, console.bar_of(fit))
        console.certified(fit, certificate, was_there=fit.calibration.finished)
        done.append((fit, ended, certificate))
    console.say("\nWhat is promised:\n")
    for fit, _, certificate in done:
        console.statement(fit, certificate)
    console.say(f"\nWhat a client gets, by method {DEFAULT}:\n")
    for problem in problems:
        usual = next(certificate for fit, _, certificate in done if (fit.problem, fit.method) == (problem, DEFAULT))
        for query, x in problem.shown:
            console.asked(query, client.predict_set(usual.predictor_id, x))
    results = [measure(client, fit, certificate) for fit, _, certificate in done]
    console.say("\nPromised, and measured on held-out rows (of mean sizes, smaller is better):\n")
    console.table(results)
    _afterwards(client, console)
    return results


def _afterwards(client: Client, console: Console) -> None:
    """What the monitor is for, and what a name is for."""
    monitor = client.predictors.monitor(drift(client))
    console.say(
        f"\nA third predictor, of delivery times, was watched while roads were closed: {monitor.misses} of "
        f"{monitor.outcomes} outcomes were missed, and its certificate is {monitor.status}."
    )
    name = recalibrated(client)
    console.say(
        f"The name {name.name} stood for another one when it was contradicted, and stands for one that was calibrated "
        f"anew on {BLOCK} later outcomes by now: GET /predict_set?predictor={name.name}&x=30"
    )


def _trained(console: Console) -> list[DemoProblem]:
    console.say("Training two small base models: the paper's toy regression, and digits.")
    begin = time.monotonic()
    from certiset.service.demo.digits import digits  # noqa: PLC0415 (torch and scikit-learn take a second or two to load)
    from certiset.service.demo.toy import toy  # noqa: PLC0415

    problems = [toy(), digits()]
    seconds = time.monotonic() - begin
    sizes = ", ".join(f"{problem.title}: {len(problem.x)}" for problem in problems)
    console.say(f"Trained in {seconds:.1f} s. Uploading calibration rows ({sizes}).")
    return problems
