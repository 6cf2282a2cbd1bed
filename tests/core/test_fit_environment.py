"""A fitting process gets no secret that it can do without."""

from pathlib import Path

import pytest

from certiset.core.fit_environment import fit_environment, store_files

KEPT = {
    "PATH": "/usr/bin",
    "PYTHONPATH": "/code",
    "HOME": "/home/certiset",
    "PWD": "/home/certiset",
    "OLDPWD": "/",
    "LANG": "C.UTF-8",
    "LD_LIBRARY_PATH": "/usr/local/cuda/lib64",
    "CUDA_VISIBLE_DEVICES": "0",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "OMP_NUM_THREADS": "4",
    "TOKENIZERS_PARALLELISM": "false",
    "KEYBOARD": "us",
    "HOMEPAGE": "https://example.org/a@b",
    "NO_PROXY": "10.0.0.0/8",
    "SSL_CERT_FILE": "/etc/ssl/cert.pem",
}
OF_SERVICES = {
    "CERTISET_DATABASE_URL",
    "CERTISET_ARTIFACTS_URL",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGHOST",
    "POSTGRES_PASSWORD",
    "DATABASE_URL",
    "DB_PASS",
    "REDIS_URL",
    "REDISCLI_AUTH",
    "CELERY_BROKER_URL",
    "BROKER_URL",
    "RABBITMQ_DEFAULT_PASS",
    "MY_API_KEY",
    "SENTRY_DSN",
    "GITHUB_TOKEN",
    "OTHER_SERVICE_SECRET",
    "smtp_password",
    "ADMIN_PWD",
    "SSH_AUTH_SOCK",
}
OF_STORES = {
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_ENDPOINT_URL_S3",
    "FSSPEC_S3_ENDPOINT_URL",
    "FSSPEC_S3_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GCSFS_DEFAULT_PROJECT",
    "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "STORAGE_EMULATOR_HOST",
    "https_proxy",
}


@pytest.mark.parametrize("store_elsewhere", [False, True])
def test_neither_the_database_nor_the_broker_nor_a_password(store_elsewhere: bool) -> None:
    given = {**KEPT, **dict.fromkeys(OF_SERVICES | OF_STORES, "value")}
    found = fit_environment(given, store_elsewhere=store_elsewhere)
    assert found == {**KEPT, **dict.fromkeys(OF_STORES if store_elsewhere else (), "value")}


@pytest.mark.parametrize("store_elsewhere", [False, True])
def test_addresses_with_a_password_are_left_out_whatever_they_are_called(store_elsewhere: bool) -> None:
    secret = "postgresql+psycopg://certiset:hidden@db.example.org:5432/certiset"
    given = {"MAIN_URL": secret, "QUEUE": "redis://:hidden@queue:6379/0", "HTTPS_PROXY": "http://me:hidden@proxy:3128"}
    found = fit_environment(given, store_elsewhere=store_elsewhere)
    assert set(found) == ({"HTTPS_PROXY"} if store_elsewhere else set())


def test_files_of_a_store_are_those_that_variables_name_or_the_usual_ones(tmp_path: Path) -> None:
    usual, named = tmp_path / ".aws" / "credentials", tmp_path / "token"
    usual.parent.mkdir()
    for file in (usual, named):
        file.touch()
    home = {"HOME": str(tmp_path)}
    assert store_files(home) == (str(usual),)
    assert store_files({}) == ()
    given = {**home, "AWS_WEB_IDENTITY_TOKEN_FILE": str(named), "AWS_SHARED_CREDENTIALS_FILE": "/nowhere"}
    assert store_files(given) == (str(named),)
    assert store_files({**home, "PGPASSFILE": str(named), "CERTISET_SECRET_FILE": str(named)}) == (str(usual),)
