"""``certiset verify`` as an auditor types it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import certiset
from certiset.core.certificate.signing import Signer
from certiset.core.errors import DamagedFileError, OptionError
from certiset.core.fit import Predictor, fit
from certiset.service.cli.main import main
from certiset.service.client import Certificate as ClientCertificate
from tests.core.fit.problems import QUICK, class_data, class_model


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(400, 0), **QUICK)


@pytest.fixture
def file(tmp_path: Path, predictor: Predictor) -> Path:
    target = tmp_path / "certificate.json"
    target.write_text(json.dumps(predictor.certificate.to_json()))
    return target


def test_a_certificate_that_holds(file: Path, predictor: Predictor, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(file)]) == 0
    printed = capsys.readouterr().out
    assert predictor.certificate.statement in printed
    assert "All checks passed." in printed
    assert "FAILED" not in printed


def test_the_description_of_a_saved_predictor_is_accepted(
    tmp_path: Path, predictor: Predictor, capsys: pytest.CaptureFixture[str]
) -> None:
    predictor.save(tmp_path)
    assert main(["verify", str(tmp_path / "predictor.json"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["valid"] is True
    assert {"name", "ok", "expected", "found"} == set(answer["checks"][0])


def test_a_certificate_that_does_not_hold(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads(file.read_text())
    content["coverage"]["delta"] /= 10
    file.write_text(json.dumps(content))
    assert main(["verify", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "do not rely on it" in printed
    assert "FAILED" in printed


def test_from_python_in_any_form(file: Path, tmp_path: Path, predictor: Predictor) -> None:
    issued = predictor.certificate
    predictor.save(tmp_path / "saved")
    content = issued.to_json()
    served = ClientCertificate.model_validate(content)
    forms: list[Any] = [issued, content, json.dumps(content), file.read_bytes(), file, str(file), served]
    for form in [*forms, tmp_path / "saved" / "predictor.json"]:
        assert certiset.verify(form).valid
    signed = Signer.from_file_or_new(tmp_path / "key.pem")
    assert not certiset.verify(issued, signed.public_key)
    assert certiset.verify(signed.sign(issued), signed.public_key)
    with pytest.raises(OptionError, match="key must be an Ed25519 public key: 32 bytes, in base64"):
        certiset.verify(issued, "magic")
    with pytest.raises(
        DamagedFileError, match="This is not a certificate: certificate: field 'assumptions' is missing"
    ):
        certiset.verify({"id": "cert-1"})
    with pytest.raises(FileNotFoundError):
        certiset.verify("nowhere.json")


def test_no_torch_is_needed(file: Path) -> None:
    """An auditor's laptop: the command must not load the machinery of fitting."""
    probe = (
        "import sys; from certiset.service.cli.main import main; code = main(['verify', sys.argv[1]]); "
        "sys.exit(code or ('torch' in sys.modules and 3))"
    )
    done = subprocess.run([sys.executable, "-c", probe, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"{", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "must be an object"),
        (b"{}", "is missing"),
    ],
    ids=range(6),
)
def test_what_is_not_a_certificate_is_a_sentence_and_exit_code_2(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    target = tmp_path / "file.json"
    if content is not None:
        target.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "certiset", "verify", str(target)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
