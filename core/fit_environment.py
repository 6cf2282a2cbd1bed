"""The environment of a fitting process: our own code, but on strangers' data, so that it gets no secret without need.

Much of an environment is for libraries that we do not know (BLAS, CUDA, the loader), so what is secret is left out, and
all else is kept. A store elsewhere needs its credentials; nothing else does.
"""

import os
import re
from collections.abc import Mapping

_SERVICES = (
    "CERTISET_",
    "PG",
    "POSTGRES",
    "DATABASE",
    "DB_",
    "SQLALCHEMY_",
    "MYSQL",
    "REDIS",
    "CELERY",
    "BROKER",
    "AMQP",
    "RABBITMQ",
    "KOMBU",
    "FLOWER_",
)
"""how variables of the service, its database and its broker begin"""
_STORES = (
    "AWS_",
    "S3_",
    "BOTO_",
    "MINIO_",
    "FSSPEC_",
    "GOOGLE_",
    "GCS",
    "GCLOUD_",
    "CLOUDSDK_",
    "AZURE_",
    "STORAGE_",
    "OSS_",
)
"""and those of stores for which fsspec has packages"""
_FILES = {
    "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
    "AWS_CONFIG_FILE": "~/.aws/config",
    "AWS_WEB_IDENTITY_TOKEN_FILE": None,
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": None,
    "AWS_CA_BUNDLE": None,
    "GOOGLE_APPLICATION_CREDENTIALS": None,
    "AZURE_FEDERATED_TOKEN_FILE": None,
    "SSL_CERT_FILE": None,
    "FSSPEC_CONFIG_DIR": "~/.config/fsspec",
}
"""variables that name a store's files, and where those are by default"""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_SECRET = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|APIKEY"
    r"|(^|_)(PASS|PASSFILE|TOKENS?|KEYS?|DSN|AUTH|COOKIES?|NETRC)(_|$)|_PWD$"
)
_WITH_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]*@")


def fit_environment(environment: Mapping[str, str], *, store_elsewhere: bool) -> dict[str, str]:
    """What a fitting process needs of an environment; ``store_elsewhere``: artifacts are not in a local folder."""

    def kept(name: str, value: str) -> bool:
        upper = name.upper()
        if upper.startswith(_SERVICES):
            return False
        if upper.startswith(_STORES) or upper in _PROXIES:
            return store_elsewhere
        return not _SECRET.search(upper) and not _WITH_PASSWORD.search(value)

    return {name: value for name, value in environment.items() if kept(name, value)}


def store_files(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Files from which a store elsewhere takes its credentials, if they are there."""
    home = environment.get("HOME")
    named = {name: environment.get(name) or (default if home else None) for name, default in _FILES.items()}
    paths = [path.replace("~", home or "", 1) if path.startswith("~/") else path for path in named.values() if path]
    return tuple(path for path in paths if os.path.exists(path))
