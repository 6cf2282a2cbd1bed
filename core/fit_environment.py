"""The environment of a fitting process: our own code, but on strangers' data, so that it gets no secret without need.

Much of an environment is for libraries that we do not know (BLAS, CUDA, the loader), so what is secret is left out, and
all else is kept. A store elsewhere needs its credentials; nothing else does.
"""

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
