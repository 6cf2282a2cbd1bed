"""Truths from the command line: reported one by one or from files, corrected and annulled."""

import json
from pathlib import Path

import pytest

from certiset.service.client import Client
from tests.core.fit.problems import class_data
from tests.service.cli.shell import InProcess
from tests.service.server import Server


def test_outcomes_are_reported_corrected_and_annulled(
    certiset: InProcess, client: Client, deployment: Server, tmp_path: Path
) -> None:
    id = deployment.id("doomed")
    served = client.predict_set(id, class_data(6, 51)[0], cases=[f"command {row}" for row in range(6)])
    inside = [row.set.labels[0] if row.set.labels else 0 for row in served]
    covered = [bool(row.set.labels) for row in served]
    outside = next(label for label in range(3) if label not in served[0].set.labels)
    ids = [row.prediction_id for row in served]
    said = certiset("outcomes", "report", ids[0], str(outside))
    assert said == "1 counted. 0 of 1 sets contained the truth.\n"
    assert "  consistent: 1 misses of 1 outcomes\nat most 10 % misses promised\n" in certiset(
        "predictors", "monitor", id
    )
    again = certiset.json("outcomes", "report", ids[0], str(outside))
    assert (again["counted"], again["repeated"], again["covered"]) == (0, 1, [False])
    table, lines = tmp_path / "truths.csv", tmp_path / "truths.jsonl"
    table.write_text("y,prediction_id\n" + "".join(f"{y},{one}\n" for one, y in zip(ids[:3], inside[:3], strict=True)))
    lines.write_text(
        "\n".join(json.dumps({"prediction_id": one, "y": y}) for one, y in zip(ids[3:], inside[3:], strict=True))
    )
    counted = certiset.json("outcomes", "report", "--file", str(table))
    assert (counted["counted"], counted["repeated"], counted["covered"]) == (2, 1, covered[:3])
    assert certiset.json("outcomes", "report", "--file", str(lines))["counted"] == 3
    before = certiset.json("predictors", "monitor", id)
    assert (before["outcomes"], before["misses"]) == (6, 1 + covered[1:].count(False))
    state = certiset.json("outcomes", "correct", ids[0], str(inside[0]))
    assert state == {"predictor_id": id, "covered": covered[0], "state": "counted"}
    assert certiset("outcomes", "correct", ids[1], str(inside[1])).endswith(
        f"the truth.\nThe certificate of {id} is consistent.\n"
    )
    assert certiset("outcomes", "annul", ids[2]) == "Annulled: this outcome no longer counts.\n"
    assert certiset.json("outcomes", "annul", ids[3]) == {"annulled": ids[3]}
    after = certiset.json("monitor", id)
    assert (after["outcomes"], after["misses"]) == (4, [covered[row] for row in (0, 1, 4, 5)].count(False))


def test_what_is_wrong_with_truths_is_said_where_it_stands(
    certiset: InProcess, client: Client, deployment: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = deployment.id("regression")
    one = client.predict_set(id, 0.3).prediction_id

    def of_file(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return certiset("outcomes", "report", "--file", str(tmp_path / name), code=2)

    assert "Give a prediction id and its truth, or --file FILE." in certiset("outcomes", "report", code=2)
    both = certiset("outcomes", "report", one, "1", "--file", "truths.csv", code=2)
    assert "and not both" in both
    assert "y must be a number: the predictor's classes have no names" in certiset(
        "outcomes", "report", one, "a", code=2
    )
    for wrong in ("nan", "1,,2"):
        assert "a truth must be a number" in certiset("outcomes", "report", one, wrong, code=2)
    assert "cannot be read: No such file" in certiset("outcomes", "report", "--file", "nowhere.csv", code=2)
    assert "truths.txt is not one of .csv, .jsonl" in of_file("truths.txt", "")
    assert "must have one column y; its first line has prediction_id, truth" in of_file(
        "a.csv", "prediction_id,truth\n"
    )
    assert "has no truths" in of_file("a.csv", "prediction_id,y\n")
    assert "line 3: outcomes.1.y must be a number" in of_file("a.csv", f"prediction_id,y\n{one},1\n{one},x\n")
    assert "line 2: this line has 1 cells" in of_file("a.csv", f"prediction_id,y\n{one}\n")
    assert "line 2: prediction_id is missing" in of_file("a.csv", "prediction_id,y\n,1\n")
    assert "line 2: this is not JSON" in of_file("a.jsonl", f'{{"prediction_id": "{one}", "y": 1}}\n{{\n')
    assert "line 1: this must be an object" in of_file("a.jsonl", "[1]\n")
    assert "line 1: y must be a number" in of_file("a.jsonl", f'{{"prediction_id": "{one}", "y": NaN}}\n')
    # The server's refusals, too, and none of the file was counted; ids and truths may begin with a dash.
    monkeypatch.setattr("certiset.service.client.outcomes._PIECE", 1)
    assert "line 4: This prediction_id is unknown" in of_file("a.csv", f"prediction_id,y\n\n{one},1\n-{'A' * 60},1\n")
    assert "line 2: " in of_file("a.csv", f'prediction_id,y\n{one},"1,2"\n')
    assert "This prediction_id is unknown" in certiset("outcomes", "correct", f"-{'A' * 60}", "-1.5e-3", code=2)
    assert "was a replay" in certiset("outcomes", "annul", client.predict_set(id, 0.3, member=0).prediction_id, code=2)
    never = certiset("outcomes", "annul", client.predict_set(id, 0.4).prediction_id, code=2)
    assert "outcome" in never
