"""The Compose files: valid by the schema, and true to the settings, the command line and the Dockerfile."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from certiset.core.settings import PREFIX, Settings
from certiset.service.cli.main import build_parser
from tests.servers import postgres_database, wait_until
from tests.system.containers.files import ROOT, compose, dockerfile, filled, variables
from tests.worker.deployment import Deployment

BOTH = ("docker-compose.yml", "docker-compose.gpu.yml")
PASSWORDS = {"POSTGRES_PASSWORD": "p0", "REDIS_PASSWORD": "r0"}
OURS = ("migrate", "api", "worker")


@pytest.fixture(name="services")
def services_() -> Any:
    return filled(compose(), PASSWORDS)["services"]


@pytest.mark.parametrize("names", [BOTH[:1], BOTH[1:], BOTH], ids=["base", "gpu", "merged"])
@pytest.mark.parametrize("filling", [False, True], ids=["as written", "filled in"])
def test_files_are_valid_by_the_compose_schema(tmp_path: Path, names: tuple[str, ...], filling: bool) -> None:
    content = filled(compose(*names), PASSWORDS) if filling else compose(*names)
    file = tmp_path / "compose.json"
    file.write_text(json.dumps(content))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_setting_exists(services: Any) -> None:
    known = {PREFIX + field.name.upper() for field in fields(Settings)}
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", (ROOT / "Dockerfile").read_text()))
    for name in BOTH:
        named |= set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", (ROOT / name).read_text()))
    assert named
    assert named <= known


@pytest.mark.parametrize("names", [BOTH[:1], BOTH])
def test_settings_are_read_and_shared_by_api_and_workers(names: tuple[str, ...]) -> None:
    services = filled(compose(*names), PASSWORDS)["services"]
    home = Path(_environment_of_the_image()[f"{PREFIX}HOME"])
    read = {name: Settings.from_environment(services[name]["environment"]) for name in OURS}
    for settings in read.values():
        assert settings.database_url == "postgresql://certiset:p0@postgres:5432/certiset"
        assert settings.broker_url == "redis://:r0@redis:6379/0"
        assert (settings.secret, settings.signing_key) == (home / "secret", home / "signing.pem")
        assert Path(settings.artifacts).is_relative_to(home)
    assert all(f"state:{home}" in services[name]["volumes"] for name in OURS)
    assert read["worker"].device == ("cuda" if len(names) == 2 else "auto")


def test_databases_are_the_ones_that_the_settings_name(services: Any) -> None:
    postgres, redis = services["postgres"], services["redis"]
    assert (postgres["environment"]["POSTGRES_USER"], postgres["environment"]["POSTGRES_DB"]) == ("certiset",) * 2
    assert postgres["environment"]["POSTGRES_PASSWORD"] == "p0"
    assert redis["environment"]["REDISCLI_AUTH"] == "r0"
    for server in (postgres, redis):
        assert re.search(r":\d+\.\d+(\.\d+)?-", server["image"]), "pinned to a patch"
        assert "ports" not in server, "not published"
        assert server["networks"] == ["inside"]
    assert compose()["networks"]["inside"]["internal"] is True


def _parsed(command: list[str]) -> Any:
    return build_parser(command).parse_args(command)


def test_commands_are_ones_that_the_command_line_has(services: Any) -> None:
    assert _last("ENTRYPOINT") == ["certiset"]
    for name in OURS:
        assert _parsed(services[name]["command"]).command == name
    _parsed(_last("CMD"))


def test_ports_agree(services: Any) -> None:
    options = _parsed(services["api"]["command"])
    assert options.host == "0.0.0.0"
    assert services["api"]["ports"] == [f"127.0.0.1:8000:{options.port}"]
    assert _last("EXPOSE") == [str(options.port)]
    assert f"http://127.0.0.1:{options.port}/healthz" in _last("HEALTHCHECK")[-1]
    default = _parsed(_last("CMD"))
    assert (default.host, default.port) == (options.host, options.port)


def test_secrets_are_required_and_nothing_else_is() -> None:
    found = variables(compose(*BOTH))
    assert {name for name, signs in found.items() if signs == {":?"}} == set(PASSWORDS)
    assert all(signs in ({":?"}, {":-"}) for signs in found.values()), found
    for left in PASSWORDS:
        with pytest.raises(KeyError, match=left):
            filled(compose(), {name: value for name, value in PASSWORDS.items() if name != left})


def test_the_example_of_an_environment_names_every_variable() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    named = {match[1] for line in lines if (match := re.match(r"#?([A-Z_]+)=", line))}
    assert named == set(variables(compose(*BOTH)))


def test_redis_evicts_nothing_and_persists(services: Any) -> None:
    words = services["redis"]["command"]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert words[0] == "redis-server"
    assert options["--maxmemory-policy"] == "noeviction"
    assert options["--appendonly"] == "yes"
    assert options["--requirepass"] == "r0"
    assert services["redis"]["volumes"] == ["redis:/data"]


def test_named_volumes_are_declared() -> None:
    content = compose(*BOTH)
    used = {mount.split(":")[0] for service in content["services"].values() for mount in service.get("volumes", [])}
    assert used == set(content["volumes"])


def test_services_start_after_the_migration_and_are_watched(services: Any) -> None:
    assert services["migrate"]["restart"] == "no"
    assert services["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    for name in ("api", "worker"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
        assert services[name]["depends_on"]["redis"]["condition"] == "service_healthy"
    for name in ("api", "worker", "postgres", "redis"):
        assert services[name]["restart"] == "unless-stopped"
        assert "stop_grace_period" in services[name]
    for name in ("worker", "postgres", "redis"):
        assert services[name]["healthcheck"]["test"]


def test_services_may_do_as_little_as_possible(services: Any) -> None:
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        if name in OURS:
            assert service["read_only"] is True
            assert "cap_add" not in service


def test_gpus_are_for_the_worker_alone() -> None:
    before, after = (filled(compose(*names), PASSWORDS)["services"] for names in (BOTH[:1], BOTH))
    assert {name for name in after if after[name] != before[name]} == {"worker"}
    (device,) = after["worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    assert after["worker"]["build"]["args"]["VARIANT"] == "cuda"
    assert after["worker"]["image"] != after["api"]["image"]


def test_build_arguments_are_the_dockerfiles() -> None:
    declared = {i.text.split("=")[0]: i.text.split("=", 1)[1].strip('"') for i in dockerfile() if i.name == "ARG"}
    arguments = filled(compose(*BOTH), PASSWORDS)["services"]["api"]["build"]["args"]
    assert arguments == {name: declared[name] for name in ("VARIANT", "TORCH", "TORCH_INDEX")}


def test_the_workers_healthcheck_knows_a_worker_from_none(tmp_path: Path, services: Any) -> None:
    kind, _, *check = services["worker"]["healthcheck"]["test"]
    assert kind == "CMD"
    with postgres_database() as url:
        deployment = Deployment(Settings(home=tmp_path, database_url=url, sweep_seconds=0.5), tmp_path / "log")
        deployment.close()

        def healthy() -> bool:
            environment = {**os.environ, "CERTISET_DATABASE_URL": url}
            done = subprocess.run([sys.executable, *check], env=environment, capture_output=True, check=False)
            assert b"Traceback" not in done.stderr, done.stderr.decode()
            return done.returncode == 0

        def in_this_database() -> None:
            """Here all clients have one address, so that others' databases must be looked away from."""
            check[-1] = check[-1].replace("pid <>", "datname = current_database() and pid <>")

        in_this_database()
        assert not healthy()
        deployment.start_worker()
        try:
            wait_until(healthy, 60, "a healthy worker")
        finally:
            deployment.stop_workers()
        wait_until(lambda: not healthy(), 60, "the worker to be missed")


def _last(name: str) -> list[str]:
    words = next(i for i in reversed(dockerfile()) if i.name == name).words
    return words[1:] if name == "HEALTHCHECK" else words


def _environment_of_the_image() -> dict[str, str]:
    (line,) = (i.text for i in dockerfile() if i.name == "ENV")
    return dict(word.split("=", 1) for word in line.split())
