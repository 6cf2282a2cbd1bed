"""What went wrong is a sentence, and an exit code that scripts can tell apart."""

import pytest

from tests.servers import free_port
from tests.service.cli.shell import Shell
from tests.service.client.scripted_server import scripted
from tests.service.server import Server


@pytest.mark.parametrize(
    "command",
    [
        ["datasets", "list"],
        ["models", "list"],
        ["calibrate", "--watch", "cal-1"],
        ["predict", "pred-1", "--x", "1"],
        ["certificates", "list"],
        ["predictors", "download", "pred-1", "-o", "file"],
    ],
)
def test_exit_code_3_where_nobody_answers(offline: Shell, command: list[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert offline(*command, "--url", url, code=3) == (
        f"certiset {command[0]}: Nothing answers at {url}: is `certiset up` running?\n"
    )


def test_exit_code_2_for_a_wrong_key_and_wrong_arguments(shell: Shell, deployment: Server) -> None:
    told_so = shell("datasets", "list", "--key", "wrong", code=2)
    assert "This API key is unknown, or was revoked" in told_so
    assert "CERTISET_KEY" in told_so
    assert "invalid choice" in shell("data-sets", code=2)
    assert "must be comma-separated numbers" in shell("predict", deployment.id("regression"), "--x", "a", code=2)
    predict = ("predict", deployment.id("regression"), "--file")
    assert "rows.txt is not one of .csv, .json, .npz, .parquet" in shell(*predict, "rows.txt", code=2)
    (shell.folder / "empty.csv").write_text("a\n")
    assert "no rows" in shell(*predict, "empty.csv", code=2)


def test_exit_code_1_for_a_certificate_that_does_not_hold(offline: Shell) -> None:
    check = {"name": "rank", "ok": False, "expected": 7, "found": 9}
    with scripted((200, {}, {"valid": False, "status": "contradicted", "checks": [check]})) as server:
        text = offline("certificates", "verify", "cert-1", "--url", server.url, code=1)
    assert "FAILED  rank: expected 7, found 9" in text
    assert "do not rely on it" in text
    assert "contradict it" in text
