"""Variables that look like settings and are none: a misspelt limit is a limit that does not hold."""

import difflib
from collections.abc import Iterator, Mapping

from certiset.core.settings import PREFIX, Settings
from certiset.service.doctor.finding import Finding

_OF_CLIENTS = ("CERTISET_URL", "CERTISET_KEY")


def check_environment(environment: Mapping[str, str]) -> Iterator[Finding]:
    known = Settings.variables()
    given = [name for name in environment if name.startswith(PREFIX) and not name.startswith(f"{PREFIX}TEST_")]
    unknown = sorted(name for name in given if name not in known and name not in _OF_CLIENTS)
    if not unknown:
        yield Finding("settings", "ok", f"{sum(name in known for name in given)} from the environment, all known")
    for name in unknown:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        meant = f": did you mean {near[0]}?" if near else "; remove it."
        yield Finding("settings", "warning", f"{name} is not a setting of certiset and has no effect{meant}")
