"""The Compose files: valid by the schema, and true to the settings, the command line and the Dockerfile."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery

from certiset.core.jobs.announcer import Announcer
from certiset.core.settings import PREFIX, Settings
from certiset.service.cli.main import build_parser
from tests.servers import free_port, missing, postgres_database, wait_until
from tests.system.containers.files import ROOT, compose, dockerfile, filled, variables
from tests.worker.deployment import Deployment

BOTH = ("docker-compose.yml", "docker-compose.gpu.yml")
OURS = ("migrate", "api", "worker")


@pytest.fixture(name="services")
def services_() -> Any:
    return filled(compose(), {})["services"]


@pytest.fixture(name="secrets")
def secrets_(tmp_path: Path) -> Path:
    """The folder that the script makes."""
    folder = tmp_path / "secrets"
    subprocess.run([ROOT / "deploy" / "compose" / "make-secrets", folder], check=True)
    return folder


@pytest.mark.parametrize("names", [BOTH[:1], BOTH[1:], BOTH], ids=["base", "gpu", "merged"])
@pytest.mark.parametrize("filling", [False, True], ids=["as written", "filled in"])
def test_files_are_valid_by_the_compose_schema(tmp_path: Path, names: tuple[str, ...], filling: bool) -> None:
    content = filled(compose(*names), {}) if filling else compose(*names)
    file = tmp_path / "compose.json"
    file.write_text(json.dumps(content))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_setting_exists() -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", (ROOT / "Dockerfile").read_text()))
    for name in BOTH:
        named |= set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", (ROOT / name).read_text()))
    assert named
    assert named <= Settings.variables()


@pytest.mark.parametrize("names", [BOTH[:1], BOTH])
def test_settings_are_read_and_shared_by_api_and_workers(names: tuple[str, ...], secrets: Path) -> None:
    services = filled(compose(*names), {})["services"]
    home = Path(_environment_of_the_image()[f"{PREFIX}HOME"])
    read = {name: Settings.from_environment(_inside(services[name], secrets)) for name in OURS}
    for settings in read.values():
        assert re.fullmatch(r"postgresql://certiset:\w{48}@postgres:5432/certiset", settings.database_url)
        assert re.fullmatch(r"redis://certiset:\w{48}@redis:6379/0", settings.broker_url)
        assert (settings.secret, settings.signing_key) == (home / "secret", home / "signing.pem")
        assert Path(settings.artifacts).is_relative_to(home)
    assert all(f"state:{home}" in services[name]["volumes"] for name in OURS)
    assert read["worker"].device == ("cuda" if len(names) == 2 else "auto")


def _inside(service: Any, secrets: Path) -> dict[str, str]:
    """A service's environment, with the files that are mounted for it where they are here."""
    environment: dict[str, str] = service["environment"]
    mounted = {f"/run/secrets/{name}": str(secrets / name) for name in service["secrets"]}
    return {name: mounted.get(value, value) for name, value in environment.items()}


def test_databases_are_the_ones_that_the_settings_name(services: Any) -> None:
    postgres, redis = services["postgres"], services["redis"]
    assert (postgres["environment"]["POSTGRES_USER"], postgres["environment"]["POSTGRES_DB"]) == ("certiset",) * 2
    for server in (postgres, redis):
        assert re.search(r":\d+\.\d+(\.\d+)?-", server["image"]), "pinned to a patch"
        assert "ports" not in server, "not published"
        assert server["networks"] == ["inside"]
    assert compose()["networks"]["inside"]["internal"] is True


def test_secrets_are_files_alone(services: Any, secrets: Path) -> None:
    declared = compose(*BOTH)["secrets"]
    assert {name: content["file"] for name, content in declared.items()} == {
        name: f"./secrets/{name}" for name in declared
    }
    assert {file.name for file in secrets.iterdir()} == set(declared)
    for service in services.values():
        given = {f"/run/secrets/{name}" for name in service.get("secrets", [])}
        used = set(re.findall(r"/run/secrets/\w+", json.dumps(service)))
        assert used == given
    written = " ".join((ROOT / name).read_text() for name in (*BOTH, ".env.example"))
    assert not re.search(r"PASSWORD\b(?!_FILE)|requirepass|REDISCLI_AUTH", written)


def test_secrets_are_made_once_and_reached_by_their_owner_alone(secrets: Path) -> None:
    before = {file.name: file.read_text() for file in secrets.iterdir()}
    subprocess.run([ROOT / "deploy" / "compose" / "make-secrets", secrets], check=True)
    assert {file.name: file.read_text() for file in secrets.iterdir()} == before
    assert secrets.stat().st_mode & 0o777 == 0o700
    # Three different users read them, each file mounted by itself.
    assert {file.stat().st_mode & 0o777 for file in secrets.iterdir()} == {0o444}


def test_a_password_from_before_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "postgres_password").write_text("old\n")
    subprocess.run([ROOT / "deploy" / "compose" / "make-secrets", tmp_path], check=True)
    assert "certiset:old@" in (tmp_path / "database_url").read_text()


def test_redis_with_these_accounts_carries_messages_and_refuses_strangers(services: Any, secrets: Path) -> None:
    program = shutil.which("redis-server")
    if program is None:
        missing("The program redis-server is not installed.")
    port = free_port()
    here = {"/run/secrets/redis_users": str(secrets / "redis_users"), "yes": "no"}
    command = [here.get(word, word) for word in services["redis"]["command"][1:]]
    server = subprocess.Popen([program, "--port", str(port), *command], stdout=subprocess.DEVNULL)
    try:
        check = services["redis"]["healthcheck"]["test"][1].replace("redis-cli", f"redis-cli -p {port}")
        wait_until(lambda: subprocess.run(["sh", "-c", check], check=False).returncode == 0, 20, "Redis")
        url = (secrets / "broker_url").read_text().strip().replace("redis:6379", f"127.0.0.1:{port}")
        announcer = Announcer.connect(Settings(broker_url=url), Celery)
        announcer.ping()
        assert announcer.announce("cal-1")
        announcer.close()
        strange = redis.Redis(port=port)
        with pytest.raises(redis.AuthenticationError):
            strange.ping()
        strange.close()
        health = redis.Redis(port=port, username="health", password="any")
        assert health.ping()
        with pytest.raises(redis.exceptions.NoPermissionError):
            health.llen("certiset")
        health.close()
        with redis.Redis.from_url(url) as ours:
            assert ours.llen("certiset") == 1
            with pytest.raises(redis.exceptions.NoPermissionError):
                ours.config_get("*")
    finally:
        server.kill()
        server.wait()


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


def test_everything_else_has_a_default() -> None:
    found = variables(compose(*BOTH))
    assert all(signs == {":-"} for signs in found.values()), found


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


@pytest.mark.parametrize("names", [BOTH[:1], BOTH])
def test_services_may_do_as_little_as_possible(names: tuple[str, ...]) -> None:
    (user,) = (i.text for i in dockerfile() if i.name == "USER")
    for name, service in filled(compose(*names), {})["services"].items():
        assert service["cap_drop"] == ["ALL"]
        assert "cap_add" not in service
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"] is True
        assert service["user"] == (user if name in OURS else name)
        assert any(mount.startswith("/tmp:size=") for mount in service["tmpfs"])
        limits = service["deploy"]["resources"]["limits"]
        assert set(limits) == {"memory", "cpus", "pids"}
        assert all(limits.values())


def test_gpus_are_for_the_worker_alone() -> None:
    before, after = (filled(compose(*names), {})["services"] for names in (BOTH[:1], BOTH))
    assert {name for name in after if after[name] != before[name]} == {"worker"}
    (device,) = after["worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    assert after["worker"]["build"]["args"]["VARIANT"] == "cuda"
    assert after["worker"]["image"] != after["api"]["image"]


def test_build_arguments_are_the_dockerfiles() -> None:
    declared = {i.text.split("=")[0]: i.text.split("=", 1)[1].strip('"') for i in dockerfile() if i.name == "ARG"}
    arguments = filled(compose(*BOTH), {})["services"]["api"]["build"]["args"]
    assert arguments == {name: declared[name] for name in ("BASE", "VARIANT", "TORCH", "TORCH_INDEX")}


def test_the_workers_healthcheck_knows_a_worker_from_none(tmp_path: Path, services: Any) -> None:
    kind, _, *check = services["worker"]["healthcheck"]["test"]
    assert kind == "CMD"
    with postgres_database() as url:
        (tmp_path / "url").write_text(f"{url}\n")
        deployment = Deployment(Settings(home=tmp_path, database_url=url, sweep_seconds=0.5), tmp_path / "log")
        deployment.close()

        def healthy() -> bool:
            environment = {**os.environ, "CERTISET_DATABASE_URL_FILE": str(tmp_path / "url")}
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
