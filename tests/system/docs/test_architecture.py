"""docs/architecture.md names files that exist, every room that there is, and registries under their names."""

import re
from pathlib import Path

import certiset.core.certificate.guarantees
import certiset.core.data.formats
import certiset.core.models.backbones
import certiset.core.models.heads
import certiset.core.scores
import certiset.core.sets
from tests.system.docs.pages import DOCS

ROOT = DOCS.parent
PAGE = (DOCS / "architecture.md").read_text()
REGISTRIES = {
    "SCORES": certiset.core.scores,
    "SET_KINDS": certiset.core.sets,
    "FORMATS": certiset.core.data.formats,
    "GUARANTEES": certiset.core.certificate.guarantees,
    "BACKBONES": certiset.core.models.backbones,
    "HEADS": certiset.core.models.heads,
}


def test_every_path_exists() -> None:
    named = set(re.findall(r"`((?:core|service|worker|src|tests|benchmarks|docs)(?:/[\w./]+)?)`", PAGE))
    named |= set(re.findall(r"\[((?:core|service|worker|benchmarks)(?:/[\w./]+)?)\]", PAGE))
    assert len(named) > 50
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_room_is_on_the_plan() -> None:
    rooms = {path.relative_to(ROOT).as_posix() for top in ("core", "service") for path in (ROOT / top).iterdir()}
    rooms = {room for room in rooms if "__" not in room and not room.endswith(("static", "settings.py"))}
    small = {"service/processes.py", "service/progress_bar.py"}
    assert [room for room in sorted(rooms - small) if f"`{room}`" not in PAGE and f"[{room}]" not in PAGE] == []


def test_registries_are_where_the_page_says() -> None:
    for name, module in REGISTRIES.items():
        assert f"`{name}`" in PAGE
        assert len(getattr(module, name)) > 1


def test_the_page_is_short() -> None:
    assert len(PAGE.splitlines()) < 140
    assert len(re.sub(r"```mermaid.*?```", "", PAGE, flags=re.DOTALL).split()) < 1400
    assert Path(DOCS / "architecture.md").name in (DOCS / "README.md").read_text()
