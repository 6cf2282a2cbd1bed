"""Small problems for the evidence's code."""

from benchmarks.evidence.learning_problem import LearningProblem
from tests.core.fit.problems import class_data, class_model, toy_data, toy_model


def classes(rows: int, seed: int = 0) -> LearningProblem:
    return LearningProblem("classes", class_model(), *class_data(rows, seed), *class_data(600, seed + 100))


def intervals(rows: int, seed: int = 0) -> LearningProblem:
    (x, y), (test_x, test_y) = toy_data(rows, seed), toy_data(600, seed + 100)
    return LearningProblem("toy", toy_model(), x, y[:, 0], test_x, test_y[:, 0])
