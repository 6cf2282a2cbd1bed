"""Other libraries beside ours: the code that is counted is the code that runs, and the page says where we lose."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.evidence import peers, peers_report
from benchmarks.evidence.peers import environments, process
from benchmarks.evidence.peers.measured import MARGINAL, PAC, PeerMeasured
from benchmarks.evidence.peers.recipes import BY_HAND, PROBLEMS, RECIPES
from benchmarks.evidence.peers.splits import Split
from certiset.core.bounds import vovk_2b


def run(library: str, promise: str = PAC, **values: Any) -> dict[str, Any]:
    numbers = {"size": 1.0, "coverage": 0.92, "calibration_seconds": 1.0, "row_us": 30.0, "batch_us": 3.0}
    numbers |= {"model_row_us": 10.0, "model_batch_us": 1.0}
    return {"part": "letters", "method": library, "promise": promise, "seed": 0, "lines": 3, **numbers, **values}


@pytest.mark.parametrize("n", [100, 500, 1000])
def test_the_level_by_hand_is_that_of_the_exact_bound(n: int) -> None:
    scope: dict[str, Any] = {"y": range(n)}
    exec(BY_HAND, scope)
    assert scope["k"] == vovk_2b(n, 0.1, 0.05)
    assert np.floor((n + 1) * scope["alpha"]) == scope["k"]


def test_every_library_has_both_problems_and_lines_that_are_counted() -> None:
    for name, recipes in RECIPES.items():
        assert set(recipes) == ({"letters"} if "ties" in name else set(PROBLEMS)), "numbers hardly tie"
        for recipe in recipes.values():
            for promise in recipe.promises:
                code = recipe.code(promise)
                assert code.lines == len(code.text.strip().splitlines())
                assert "$" not in code.text
            marginal = MARGINAL in recipe.promises
            assert marginal != name.startswith("certiset")
            if marginal:
                assert recipe.code(PAC).lines == recipe.code(MARGINAL).lines + 3
    assert [RECIPES["certiset"][problem].code(PAC).lines for problem in PROBLEMS] == [3, 3]


@pytest.mark.parametrize(
    ("library", "problem", "found", "truths"),
    [
        ("MAPIE", "letters", np.array([[[True], [False]], [[True], [True]]]), [1, 0]),
        ("crepes", "letters", [[0], [0, 1]], [1, 0]),
        ("MAPIE", "diamonds", np.array([[[0.0], [1.0]], [[4.0], [6.0]]]), [2.0, 5.0]),
        ("puncc", "diamonds", (np.array([0.0, 4.0]), np.array([1.0, 6.0])), [2.0, 5.0]),
        ("TorchCP", "diamonds", np.array([[[0.0, 1.0]], [[4.0, 6.0]]]), [2.0, 5.0]),
    ],
)
def test_sets_are_read_as_each_library_gives_them(library: str, problem: str, found: Any, truths: list[float]) -> None:
    size, covered = RECIPES[library][problem].judge(found, np.array(truths))
    assert size.tolist() == [1, 2]
    assert covered.tolist() == [False, True]


def test_a_split_is_calibrated_measured_and_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(900, 2)).astype(np.float32)
    y = x.sum(axis=1) + random.normal(size=900).astype(np.float32)

    def model(rows: Any) -> Any:
        return rows.sum(axis=1, keepdims=True)

    split = Split(model, model, x[:300], y[:300], x[300:], y[300:])
    monkeypatch.setattr(process, "split_of", lambda *which: split)
    (found,) = process.measure("certiset, standard", "diamonds", 1, tmp_path)
    assert (found.promise, found.lines, found.seed) == (PAC, 3, 0)
    assert 0.88 < found.coverage < 0.98
    assert 2 < found.size < 5
    assert found.row_us > found.model_row_us > 0
    assert found.batch_us < found.row_us


def test_a_library_that_cannot_be_installed_is_left_out_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(environments.PACKAGES, "TorchCP", (str(tmp_path / "nothing"),))
    told = environments.environment_of(tmp_path, "TorchCP")
    assert told.startswith("not installed: ")
    assert "nothing" in told
    assert peers.work({"part": "letters", "library": "TorchCP", "splits": 1}, tmp_path) == []
    monkeypatch.setattr("subprocess.run", lambda *words, **options: pytest.fail("tried again"))
    assert environments.environment_of(tmp_path, "TorchCP") == told


def test_the_page_tells_where_we_lose_and_win() -> None:
    runs = [
        run("certiset", size=1.2, calibration_seconds=2.0),
        run("MAPIE", size=1.1, row_us=900.0),
        run("MAPIE", MARGINAL, coverage=0.89),
        run("crepes", size=1.3, lines=6),
    ]
    text = peers_report.report({"runs": runs, "peers": {"MAPIE": "1.0", "puncc": "not installed: no wheel"}}, Path())
    lost, won = text.partition("## Where certiset loses")[2].partition("## Where it wins")[::2]
    assert "letters, size: certiset 1.200, MAPIE 1.100.\n" in lost
    assert "letters, CPU seconds to calibrate: certiset 2.000, MAPIE 1.000, crepes 1.000.\n" in lost
    assert "for one row" not in lost
    assert "letters, size" not in won
    assert "MAPIE 1.0; puncc not installed: no wheel." in text
    assert "| MAPIE | 3 | 1.000 ± 0.000 | 0.890 | 1 of 1 |" in text


def test_what_a_process_prints_is_read_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = {name: value for name, value in run("certiset").items() if name != "part"}

    class Done:
        returncode, stdout, stderr = 0, f"words of a library\n[{str(values).replace(chr(39), chr(34))}]\n", ""

    monkeypatch.setattr("subprocess.run", lambda *words, **options: Done)
    assert peers.work({"part": "letters", "library": "certiset", "splits": 1}, tmp_path) == [PeerMeasured(**values)]
    Done.returncode, Done.stderr = 1, "their last words"
    with pytest.raises(environments.PeerEnvironmentError, match="certiset failed on letters:\ntheir last words"):
        peers.work({"part": "letters", "library": "certiset", "splits": 1}, tmp_path)
