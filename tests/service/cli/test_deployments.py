"""Names for predictors, from the command line."""

import json
from pathlib import Path

from certiset.service.client import Client
from tests.core.fit.problems import class_data
from tests.service.cli.shell import InProcess
from tests.service.server import Server


def test_names_are_set_listed_rolled_back_and_deleted(
    certiset: InProcess, client: Client, deployment: Server, tmp_path: Path
) -> None:
    first, second = deployment.id("classification"), deployment.id("doomed")
    assert f"named  {first}  " in certiset("deployments", "set", "named", first)
    assert certiset.json("deployments", "set", "named", second, "--if-version", "1")["version"] == 2
    assert "is not at version 1" in certiset("deployments", "set", "named", first, "--if-version", "1", code=2)
    assert second in certiset("deployments", "list")
    assert certiset.json("predict", "named", "--x", "0.5,-1")["deployment"] == {"name": "named", "version": 2}
    assert certiset.json("deployments", "rollback", "named")["predictor"] == first
    assert [one["version"] for one in certiset.json("deployments", "history", "named")] == [3, 2, 1]
    assert "rolled_back" in certiset("deployments", "history", "named")
    rule = ["--every", "P30D", "--on-contradiction", "--spend", "0.2/10"]
    found = certiset.json("deployments", "set", "named", first, *rule)
    assert found["recalibrate"] == {"every": {"rows": None, "days": 30.0}, "on_contradiction": True, "population": None}
    assert found["spend"] == {"total": 0.2, "over": 10}
    assert certiset.json("deployments", "set", "named", first, "--every", "500")["recalibrate"]["every"]["rows"] == 500
    assert certiset.json("deployments", "show", "named")["block"]["rows"] == 0
    served = certiset.json("deployments", "set", "named", first, "--every", "500", "--population", "served")
    assert served["recalibrate"]["population"] == "served"
    for wrong in (["--on-contradiction"], ["--population", "served"], ["--every", "soon"], ["--spend", "much"]):
        assert certiset("deployments", "set", "named", first, *wrong, code=2)
    x, _ = class_data(3, 5)
    served = client.predict_set("named", x)
    lines = [
        {"prediction_id": one.prediction_id, "y": 1, "x": row.tolist()} for one, row in zip(served, x, strict=True)
    ]
    file = tmp_path / "truths.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    assert "3 for the next predictor" in certiset("outcomes", "report", "--file", str(file))
    file.write_text(json.dumps({**lines[0], "x": "1,2"}))
    assert "x must be a list" in certiset("outcomes", "report", "--file", str(file), code=2)
    assert certiset("deployments", "delete", "named") == "named was deleted.\n"
    assert "There is no deployment" in certiset("deployments", "show", "named", code=2)
