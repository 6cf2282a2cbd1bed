"""The files with secrets: there, readable by this process, and by no one else."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from certiset.core.certificate.signing import Signer
from certiset.core.errors import SettingsError
from certiset.core.settings import Settings
from certiset.service.doctor.finding import Finding
from certiset.service.http.access.secret import read_secret

_KEY_FILES = ("CERTISET_SECRET_FILE", "CERTISET_SIGNING_KEY_FILE")


def check_key_files(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    yield _key("secret", settings.secret, lambda file: f"{len(read_secret(file))} characters")
    yield _key("signing key", settings.signing_key, lambda file: f"public key {Signer.from_file(file).public_key}")
    for name in sorted(Settings.variables()):
        file = environment.get(name, "")
        if name.endswith("_FILE") and name not in _KEY_FILES and file:
            yield _secret_setting(name, Path(file))


def _key(check: str, file: Path, read: Callable[[Path], str]) -> Finding:
    if not file.exists():
        advice = "the first start makes one; with several machines, copy it to all of them before"
        return Finding(check, "warning", f"{file} does not exist: {advice}.")
    try:
        return Finding(check, "ok", f"{file}, {read(file)}")
    except SettingsError as error:
        return Finding(check, "failed", str(error))


def _secret_setting(name: str, file: Path) -> Finding:
    """That it can be read is known: the settings have been. What a container is given has the mode of its giver."""
    check = name.removeprefix("CERTISET_").removesuffix("_FILE").lower().replace("_", " ")
    found = file.stat()
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o007:
        return Finding(check, "warning", f"{file} can be read by every user of this machine: chmod 600 it.")
    return Finding(check, "ok", f"from {file}")
