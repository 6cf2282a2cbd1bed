"""What a set for one row costs beyond the model: ``python -m benchmarks.single_row``.

The model's part is what it takes to compute the outputs of that row. Windows of both, and of a yardstick (a product of
two small matrices in torch), take turns and count the processor's time, so that other work on the machine meets all
alike. The microseconds are this machine's; their ratio to the yardstick can be compared with other machines.
"""

import argparse
import json
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch

from certiset import Model, fit
from certiset.core.fit import Predictor

ROWS, CLASSES = 800, 10
CALLS, WINDOWS = 500, 15


def predictor() -> Predictor:
    random = np.random.default_rng(0)
    y = random.integers(CLASSES, size=ROWS)
    x = 3.0 * np.eye(CLASSES)[y] + random.normal(size=(ROWS, CLASSES))
    model = Model.from_manifest({"task": "classification", "classes": CLASSES, "input_shape": [CLASSES]})
    return fit(model, x, y, alpha=0.1, method="standard")


def measure(windows: int = WINDOWS, calls: int = CALLS) -> dict[str, float]:
    torch.set_num_threads(1)
    made = predictor()
    row = np.random.default_rng(1).normal(size=(1, CLASSES))
    model, dtype = made.scorer.model, made.theta.dtype
    one, small = row.astype(np.float32), torch.rand(16, 16)
    work: dict[str, Callable[[], object]] = {
        "set_us": lambda: made.predict_set(row),
        "model_us": lambda: model.given_outputs(model.features(one, made.device, dtype)),
        "yardstick_us": lambda: small @ small,
    }
    found: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(windows):
        for name, call in work.items():
            begin = time.process_time()
            for _ in range(calls):
                call()
            found[name].append(1e6 * (time.process_time() - begin) / calls)
    result = {name: median(values) for name, values in found.items()}
    beyond = result["set_us"] - result["model_us"]
    return {**result, "beyond_us": beyond, "ratio": beyond / result["yardstick_us"]}


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None).parse_args()
    print(json.dumps({name: round(value, 2) for name, value in measure().items()}, indent=2))


if __name__ == "__main__":
    main()
