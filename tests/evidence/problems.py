"""Small problems for the evidence's code."""

from benchmarks.evidence.problem import Problem
from tests.fit.problems import class_data, class_model, toy_data, toy_model


def classes(rows: int, seed: int = 0) -> Problem:
    return Problem("classes", class_model(), *class_data(rows, seed), *class_data(600, seed + 100))


def intervals(rows: int, seed: int = 0) -> Problem:
    (x, y), (test_x, test_y) = toy_data(rows, seed), toy_data(600, seed + 100)
    return Problem("toy", toy_model(), x, y[:, 0], test_x, test_y[:, 0])
