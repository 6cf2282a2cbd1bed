"""Signed statements about a certificate: checked by the shell commands of the documentation, with the real openssl."""

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from safetensors.torch import load

from certiset.core.certificate import dsse
from certiset.core.certificate.signing import Signer
from certiset.core.errors import DamagedFileError
from certiset.service.cli.main import main
from certiset.service.client import Client
from tests.servers import missing
from tests.service.server import Server
from tests.system.docs.pages import DOCS, blocks_of


@pytest.fixture(name="shell", scope="module")
def shell_() -> str:
    """What docs/certificates.md tells an auditor to type."""
    if shutil.which("openssl") is None:
        missing("There is no openssl.")
    (block,) = (block for block in blocks_of(DOCS / "certificates.md") if "openssl pkeyutl" in block.text)
    assert len(block.commands) <= 10
    assert "python" not in block.text
    return block.text


@pytest.fixture(name="folder")
def folder_(server: Server, ada: httpx.Client, tmp_path: Path) -> Path:
    """What an auditor has been sent."""
    certificate = server.predictors["regression"].certificate
    for name, path in (
        ("certificate.json", f"/certificates/{certificate.id}"),
        ("attestation.json", f"/certificates/{certificate.id}/attestation"),
        ("status.json", f"/certificates/{certificate.id}/status"),
        ("predictor.safetensors", f"/predictors/{certificate.predictor_id}/file"),
    ):
        answer = ada.get(path)
        assert answer.status_code == 200, answer.text
        (tmp_path / name).write_bytes(answer.content)
    return tmp_path


def typed(shell: str, folder: Path, key: str) -> subprocess.CompletedProcess[str]:
    """As at a terminal, which goes on after a line that failed."""
    return subprocess.run(
        ["bash", "-c", shell],
        cwd=folder,
        env={"KEY": key, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["attestation.json", "status.json"])
def test_an_auditor_with_a_shell_and_openssl(shell: str, folder: Path, ada: httpx.Client, name: str) -> None:
    key = ada.get("/certificates/keys").json()["items"][0]["public_key"]
    shell = shell.replace("attestation.json", name)
    done = typed(shell, folder, key)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.splitlines() == [
        "Signature Verified Successfully",
        "certificate.json is meant",
        "predictor.safetensors is meant",
    ]
    done = typed(shell, folder, base64.b64encode(bytes(range(32))).decode())
    assert done.returncode != 0
    assert "is meant" not in done.stdout
    (folder / "predictor.safetensors").write_bytes(b"another")
    done = typed(shell, folder, key)
    assert done.returncode != 0
    assert "predictor.safetensors is meant" not in done.stdout
    envelope = json.loads((folder / name).read_text())
    forged = base64.b64decode(envelope["payload"]).replace(b"90 %", b"99 %").replace(b"in force", b"out of it")
    (folder / name).write_text(json.dumps({**envelope, "payload": base64.b64encode(forged).decode()}))
    done = typed(shell, folder, key)
    assert done.returncode != 0
    assert "Signature Verification Failure" in done.stdout
    assert "is meant" not in done.stdout


def statement(content: bytes, *keys: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dsse.opened(json.loads(content), keys))
    return found


def test_an_attestation_is_an_in_toto_statement(server: Server, ada: httpx.Client, folder: Path) -> None:
    certificate = server.predictors["regression"].certificate
    answer = ada.get(f"/certificates/{certificate.id}/attestation")
    assert answer.headers["content-type"] == "application/vnd.dsse.envelope.v1+json"
    (key,) = ada.get("/certificates/keys").json()["items"]
    envelope = answer.json()
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert [entry["keyid"] for entry in envelope["signatures"]] == [key["id"]]
    said = statement(answer.content, key["public_key"])
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == "tag:certiset,2026:certificate/v2"
    assert said["predicate"] == json.loads((folder / "certificate.json").read_text())
    assert {entry["name"]: entry["digest"]["sha256"] for entry in said["subject"]} == {
        f"{certificate.id}.json": hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest(),
        f"{certificate.predictor_id}.safetensors": certificate.provenance.predictor_sha256,
    }
    again = ada.get(f"/certificates/{certificate.id}/attestation", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    with pytest.raises(DamagedFileError, match="nobody who was named"):
        statement(answer.content, base64.b64encode(bytes(32)).decode())


def test_the_status_is_dated_and_what_outcomes_say(server: Server, ada: httpx.Client) -> None:
    key = ada.get("/certificates/key").json()["public_key"]
    certificate = server.predictors["regression"].certificate
    answer = ada.get(f"/certificates/{certificate.id}/status")
    assert answer.headers["cache-control"] == "no-store"
    said = statement(answer.content, key)
    assert said["predicateType"] == "tag:certiset,2026:status/v1"
    word = said["predicate"]
    assert (word["certificate_id"], word["status"], word["contradicted_at"]) == (certificate.id, "in force", None)
    assert word["at"].endswith("Z")
    assert ada.get("/certificates/cert-0/status").status_code == 404
    with server.client("eve") as eve:
        assert eve.get(f"/certificates/{certificate.id}/status").status_code == 404
        assert eve.get(f"/certificates/{certificate.id}/attestation").status_code == 404


def test_the_file_of_a_predictor_is_the_one_on_its_certificate(server: Server, ada: httpx.Client) -> None:
    predictor = server.predictors["classification"]
    certificate = predictor.certificate
    answer = ada.get(f"/predictors/{certificate.predictor_id}/file")
    assert answer.headers["content-type"] == "application/octet-stream"
    digest = hashlib.sha256(answer.content).hexdigest()
    assert digest == certificate.provenance.predictor_sha256
    assert answer.headers["etag"] == f'"{digest}"'
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert load(answer.content)["members.tau"].tolist() == predictor.tau.tolist()
    path = f"/predictors/{certificate.predictor_id}/file"
    assert ada.get(path, headers={"If-None-Match": f'"{digest}"'}).status_code == 304
    with server.client("eve") as eve:
        assert eve.get(path).status_code == 404
    with server.client(None) as nobody:
        assert nobody.get(path).status_code == 401


def test_keys_with_ids(server: Server, ada: httpx.Client) -> None:
    ours = Signer.from_file(server.settings.signing_key).public_key
    listed = ada.get("/certificates/keys").json()
    expected = {
        "id": hashlib.sha256(base64.b64decode(ours)).hexdigest()[:16],
        "algorithm": "ed25519",
        "public_key": ours,
        "status": "current",
    }
    assert listed == {"items": [expected], "next_cursor": None}
    assert ada.get("/certificates/key").json() == expected
    certificate = ada.get(f"/certificates/{server.predictors['pool'].certificate.id}").json()
    assert certificate["names"]["key_id"] == expected["id"]


def test_commands_and_client(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = server.predictors["classification"].certificate
    access = ["--url", server.url, "--key", server.keys["ada"]]
    outputs = {name: str(tmp_path / name) for name in ("certificate", "attestation", "status", "file")}
    for action, id, name in (
        (["certificates", "download"], certificate.id, "certificate"),
        (["certificates", "attestation"], certificate.id, "attestation"),
        (["certificates", "status"], certificate.id, "status"),
        (["predictors", "download"], certificate.predictor_id, "file"),
    ):
        assert main([*action, id, "--output", outputs[name], *access]) == 0
    assert "in force" in capsys.readouterr().out
    assert main(["certificates", "keys", *access]) == 0
    keys = tmp_path / "keys.txt"
    keys.write_text(capsys.readouterr().out)
    assert main(["verify", outputs["certificate"], "--keys", str(keys)]) == 0
    capsys.readouterr()
    assert main(["certificates", "keys", "--json", *access]) == 0
    keys.write_text(capsys.readouterr().out)
    assert main(["verify", outputs["certificate"], "--keys", str(keys)]) == 0
    assert hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest() == certificate.provenance.predictor_sha256
    assert main(["predictors", "download", "pred-0", "--output", outputs["file"], *access]) == 2
    assert main(["predictors", "download", certificate.predictor_id, "-o", str(tmp_path / "no/where"), *access]) == 2
    with Client(server.url, server.keys["ada"]) as client:
        (key,) = client.certificates.keys()
        assert client.certificates.status(certificate.id).status == "in force"
        assert statement(client.certificates.attestation(certificate.id), key.public_key)
    assert {file.name for file in tmp_path.iterdir()} == {*outputs, "keys.txt"}, "nothing half-written is left"
