"""Files in, files out: the same sets as row by row, resumed where a run was cut off, never half an answer."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certiset.batch import SetPredictor, predict_file
from certiset.core.batch import table_files
from certiset.core.batch.table_formats import TABLE_FORMATS
from certiset.core.data.frame import Frame
from certiset.core.errors import DataError, FileKindError
from certiset.core.fit import fit, load
from certiset.core.models import Model
from certiset.service.cli.main import main

_ROWS = 230


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    y = random.integers(3, size=200)
    x = random.normal(size=(200, 3)) + 2 * np.eye(3)[y]
    model = Model.from_manifest({"name": "m", "task": "classification", "classes": 3, "input_shape": [3]})
    folder = tmp_path_factory.mktemp("predictor") / "saved"
    fit(model, Frame(x, ["a", "b", "c"]), y, method="standard").save(folder)
    return folder


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of 50 rows."""
    monkeypatch.setattr(table_files, "_MOST_ROWS", 50)


def _table() -> Any:
    x = np.random.default_rng(3).normal(size=(_ROWS, 3)) * 2
    names = [f"row, {row}" for row in range(_ROWS)]
    return pa.table({"name": names, "c": x[:, 2], "b": x[:, 1], "a": x[:, 0]})


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    pq.write_table(_table(), tmp_path / "in.parquet", row_group_size=70)
    return tmp_path / "in.parquet"


def _expected(saved: Path, table: Any) -> list[list[int]]:
    x = np.column_stack([table.column(name).to_numpy() for name in "abc"])
    return [one["labels"] for one in load(saved).predict_set(x, 0).to_json()]


@pytest.mark.usefixtures("few_rows")
def test_parquet_to_parquet(saved: Path, parquet: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    out = tmp_path / "out.parquet"
    assert predict_file(parquet, out, SetPredictor(saved), told=lambda rows, total: told.append((rows, total))) == _ROWS
    found = pq.read_table(out)
    assert found.column("labels").to_pylist() == _expected(saved, _table())
    assert found.column("name").to_pylist() == _table().column("name").to_pylist()
    assert told == [(rows, _ROWS) for rows in (50, 100, 150, 200, 230)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]


@pytest.mark.usefixtures("few_rows")
def test_csv_keeps_other_columns_as_they_are(saved: Path, tmp_path: Path) -> None:
    rows = ["id,a,b,c"] + [f"{row:05d},{row / 100},1.5,-1" for row in range(120)]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    assert predict_file(tmp_path / "in.csv", tmp_path / "out.csv", SetPredictor(saved, keep=["id"])) == 120
    with (tmp_path / "out.csv").open(newline="") as stream:
        lines = list(csv.reader(stream))
    assert lines[0] == ["id", "labels", "size", "member"]
    x = np.column_stack([np.arange(120) / 100, np.full(120, 1.5), np.full(120, -1.0)])
    labels = [one["labels"] for one in load(saved).predict_set(x, 0).to_json()]
    assert lines[1:] == [
        [f"{row:05d}", " ".join(map(str, found)), str(len(found)), "0"] for row, found in enumerate(labels)
    ]


@pytest.mark.usefixtures("few_rows")
def test_a_run_that_was_cut_off_goes_on(saved: Path, parquet: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"

    def stop(rows: int, _total: int | None) -> None:
        if rows >= 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_file(parquet, out, SetPredictor(saved), told=stop)
    assert not out.exists()
    begun = SetPredictor(saved)
    asked: list[int] = []
    whole = begun.columns_of
    begun.columns_of = lambda rows: asked.append(len(rows["a"])) or whole(rows)  # type: ignore[method-assign, func-returns-value]
    assert predict_file(parquet, out, begun) == _ROWS
    assert asked == [50, 50, 30]
    assert pq.read_table(out).column("labels").to_pylist() == _expected(saved, _table())


@pytest.mark.usefixtures("few_rows")
def test_what_another_run_left_is_not_mixed_in(saved: Path, parquet: Path, tmp_path: Path) -> None:
    def stop(_rows: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        predict_file(parquet, out, SetPredictor(saved), told=stop)
    changed = _table().set_column(1, "c", pa.array(np.zeros(_ROWS)))
    pq.write_table(changed, parquet)
    with pytest.raises(DataError, match="restart"):
        predict_file(parquet, out, SetPredictor(saved))
    assert predict_file(parquet, out, SetPredictor(saved), restart=True) == _ROWS
    assert pq.read_table(out).column("labels").to_pylist() == _expected(saved, changed)


def test_a_run_that_wrote_nothing_is_in_nobodys_way(saved: Path, parquet: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    pq.write_table(pa.table({"a": np.zeros(3)}), tmp_path / "wrong.parquet")
    with pytest.raises(DataError, match="column"):
        predict_file(tmp_path / "wrong.parquet", out, SetPredictor(saved))
    assert predict_file(parquet, out, SetPredictor(saved)) == _ROWS


@pytest.mark.usefixtures("few_rows")
def test_errors_say_where(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = _table()
    broken = table.column("a").to_numpy().copy()
    broken[120] = np.inf
    pq.write_table(table.set_column(3, "a", pa.array(broken)), tmp_path / "in.parquet")
    with pytest.raises(DataError, match=r"rows 101 to 150 of .*in\.parquet.*row 21"):
        predict_file(tmp_path / "in.parquet", tmp_path / "out.parquet", SetPredictor(saved))
    with pytest.raises(FileKindError, match=r"\.parquet or \.csv"):
        predict_file(tmp_path / "in.txt", tmp_path / "out.csv", SetPredictor(saved))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 is all it has")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        predict_file(tmp_path / "bad.parquet", tmp_path / "x.csv", SetPredictor(saved))
    (tmp_path / "text.csv").write_text("a,b,c\n1,2,three\n")
    with pytest.raises(DataError, match="cannot be read as CSV"):
        predict_file(tmp_path / "text.csv", tmp_path / "y.csv", SetPredictor(saved))
    assert main(["predict-file", str(tmp_path / "none.csv"), str(tmp_path / "z.csv"), "--predictor", str(saved)]) == 2
    assert "none.csv cannot be read" in capsys.readouterr().err


def test_the_command(saved: Path, parquet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out.parquet")
    assert main(["predict-file", str(parquet), out, "--predictor", str(saved), "--keep", "name", "--member", "0"]) == 0
    assert f"{out}: 230 rows" in capsys.readouterr().err
    assert pq.read_table(out).column_names == ["name", "labels", "size", "member"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_groups_and_names_by_the_command(tmp_path: Path, few_rows: None, suffix: str) -> None:
    random = np.random.default_rng(3)
    y, site = random.integers(3, size=900), np.array(["north", "south"])[random.integers(2, size=900)]
    x = random.normal(size=(900, 3)) + 2 * np.eye(3)[y]
    manifest = {"task": "classification", "classes": 3, "input_shape": [3], "labels": ["ash tree", "oak", "yew"]}
    model = Model.from_manifest({"name": "m", **manifest})
    predictor = fit(model, x, y, method="standard", groups=site)
    predictor.save(tmp_path / "saved")
    rows = pa.table({"x": x[:120].tolist(), "site": site[:120]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    answer = tmp_path / f"answer.{suffix}"
    given = [str(tmp_path / "rows.parquet"), str(answer), "--predictor", str(tmp_path / "saved"), "--member", "0"]
    assert main(["predict-file", *given, "--groups", "site", "--keep", "site"]) == 0
    names = [one["names"] for one in predictor.predict_set(x[:120], 0, groups=site[:120]).to_json()]
    if suffix == "parquet":
        assert pq.read_table(answer)["names"].to_pylist() == names
    else:
        with answer.open() as lines:
            assert [json.loads(row["names"]) for row in csv.DictReader(lines)] == names


@pytest.mark.parametrize("row_group", [1000, 600_000])
def test_memory_does_not_grow_with_the_file(saved: Path, tmp_path: Path, row_group: int) -> None:
    """What is read of it at once is bounded, in many row groups as in one."""
    x = np.random.default_rng(5).normal(size=(600_000, 3))
    pq.write_table(pa.table(dict(zip("abc", x.T, strict=True))), tmp_path / "in.parquet", row_group_size=row_group)
    held, before = [], pa.total_allocated_bytes()
    for batch in TABLE_FORMATS[".parquet"].batches(tmp_path / "in.parquet", 5000, SetPredictor(saved)):
        assert batch.num_rows == 5000
        held.append(pa.total_allocated_bytes() - before)
    assert len(held) == 120
    assert max(held) < x.nbytes / 2
