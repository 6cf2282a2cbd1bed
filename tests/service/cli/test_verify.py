"""``certiset verify`` as an auditor types it."""

import base64
import hashlib
import json
import subprocess
import sys
from dataclasses import replace
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
from tests.service.cli.shell import Shell

SOMEBODY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return fit(class_model(), *class_data(400, 0), **QUICK)


@pytest.fixture
def file(tmp_path: Path, predictor: Predictor) -> Path:
    target = tmp_path / "certificate.json"
    target.write_text(json.dumps(predictor.certificate.to_json()))
    return target


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.from_file_or_new(tmp_path / "key.pem", "Ada's laboratory")


@pytest.fixture
def signed(tmp_path: Path, predictor: Predictor, signer: Signer) -> Path:
    target = tmp_path / "signed.json"
    target.write_text(json.dumps(signer.sign(predictor.certificate).to_json()))
    return target


def test_numbers_that_hold_and_a_key_that_is_trusted(
    signed: Path, predictor: Predictor, signer: Signer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(signed), "--key", SOMEBODY, "--key", signer.public_key]) == 0
    printed = capsys.readouterr().out
    assert predictor.certificate.statement in printed
    assert "All checks passed: the numbers hold, and the key" in printed
    assert "FAILED" not in printed


def test_a_statement_about_sizes_is_checked_like_a_certificate(
    tmp_path: Path, predictor: Predictor, signer: Signer, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = signer.sign(predictor.certify_size(class_data(500, 9)[0]))
    target = tmp_path / "sizes.json"
    target.write_text(json.dumps(statement.to_json()))
    assert main(["verify", str(target), "--key", signer.public_key]) == 0
    assert statement.statement in capsys.readouterr().out
    assert main(["verify", str(target)]) == 3
    content = statement.to_json()
    content["sizes"]["counts"][0][1] += 1
    target.write_text(json.dumps(content))
    assert main(["verify", str(target), "--key", signer.public_key]) == 1
    target.write_text(json.dumps({**content, "more": 1}))
    assert main(["verify", str(target), "--key", signer.public_key]) == 2


@pytest.mark.parametrize("form", ["lines", "json"])
def test_a_file_of_keys(signed: Path, signer: Signer, tmp_path: Path, form: str) -> None:
    keys = tmp_path / "keys"
    theirs = {"items": [{"public_key": key} for key in (SOMEBODY, signer.public_key)], "next_cursor": None}
    keys.write_text(json.dumps(theirs) if form == "json" else f"# ours\n{SOMEBODY}\n\n{signer.public_key}\n")
    assert main(["verify", str(signed), "--keys", str(keys)]) == 0
    keys.write_text(SOMEBODY)
    assert main(["verify", str(signed), "--keys", str(keys)]) == 3
    for wrong in ("", "# nothing\n", "magic\n", '{"items": []}', '{"items": [{"id": "x"}]}', "[[]]", "{", "\udcff"):
        keys.write_bytes(wrong.encode(errors="surrogateescape"))
        assert main(["verify", str(signed), "--keys", str(keys)]) == 2, wrong
    assert main(["verify", str(signed), "--keys", str(tmp_path / "nowhere")]) == 2


def test_numbers_that_hold_but_nobody_named_has_signed(
    file: Path, signed: Path, signer: Signer, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in ([str(file)], [str(signed)], [str(signed), "--key", SOMEBODY], [str(file), "--key", SOMEBODY]):
        assert main(["verify", *arguments]) == 3
        printed = capsys.readouterr().out
        assert "The numbers hold, but nobody that you named has signed them." in printed
        assert ("bears no signature" in printed) == (str(file) in arguments)
        assert "All checks passed" not in printed


def test_who_signed_stands_on_it(signed: Path, signer: Signer) -> None:
    names = json.loads(signed.read_text())["names"]
    assert names["issuer"] == "Ada's laboratory"
    assert names["key_id"] == hashlib.sha256(base64.b64decode(signer.public_key)).hexdigest()[:16]
    found = certiset.verify(signed, [signer.public_key])
    assert (found.trusted, found.signed_by, bool(found)) == (True, signer.public_key, True)


def test_a_saved_predictor_is_checked_with_its_tensors(
    tmp_path: Path, predictor: Predictor, signer: Signer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "saved"
    replace(predictor, certificate=signer.sign(predictor.certificate)).save(folder)
    for form in (folder, folder / "predictor.json"):
        assert main(["verify", str(form), "--json", "--key", signer.public_key]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["valid"] is True
        assert {"name", "ok", "expected", "found"} == set(answer["checks"][0])
        assert [check["name"] for check in answer["checks"]][-4:] == [
            "predictor's file",
            "members' SHA-256",
            "model's SHA-256",
            "thresholds",
        ]
    (folder / "predictor.safetensors").write_bytes(b"nothing")
    assert main(["verify", str(folder)]) == 2
    (folder / "predictor.safetensors").unlink()
    assert main(["verify", str(folder)]) == 2


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
    for form in [*forms, tmp_path / "saved" / "predictor.json", tmp_path / "saved"]:
        assert certiset.verify(form).holds
        assert not certiset.verify(form).trusted
    signed = Signer.from_file_or_new(tmp_path / "key.pem")
    assert not certiset.verify(issued, signed.public_key)
    assert certiset.verify(signed.sign(issued), signed.public_key)
    theirs = certiset.verify(signed.sign(issued), SOMEBODY)
    assert (theirs.holds, theirs.trusted, theirs.valid) == (True, False, False)
    for wrong in ("magic", [], ["magic", signed.public_key]):
        with pytest.raises(OptionError, match="key must be an Ed25519 public key: 32 bytes, in base64"):
            certiset.verify(issued, wrong)
    with pytest.raises(
        DamagedFileError, match="This is not a certificate: certificate: field 'assumptions' is missing"
    ):
        certiset.verify({"id": "cert-1"})
    with pytest.raises(FileNotFoundError):
        certiset.verify("nowhere.json")
    with pytest.raises(OptionError, match="This is no certificate, but int"):
        certiset.verify(3)  # type: ignore[arg-type]


def test_no_torch_is_needed(file: Path, tmp_path: Path, predictor: Predictor) -> None:
    """An auditor's laptop: the command must not load the machinery of fitting."""
    probe = (
        "import sys; from certiset.service.cli.main import main; codes = {main(['verify', x]) for x in sys.argv[1:]}; "
        "sys.exit(codes.pop() if len(codes) == 1 and 'torch' not in sys.modules else 4)"
    )
    predictor.save(tmp_path / "saved")
    command = [sys.executable, "-c", probe, str(file), str(tmp_path / "saved")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr


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
    tmp_path: Path, content: bytes | None, sentence: str, offline: Shell
) -> None:
    target = tmp_path / "file.json"
    if content is not None:
        target.write_bytes(content)
    errors = offline("verify", str(target), code=2)
    assert sentence in errors
    assert "Traceback" not in errors
