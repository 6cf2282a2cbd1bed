"""The site that `make docs` builds: every page, every link, and nothing from another host.

It is built in an environment of its own, which has what the extra `docs` names and nothing else.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.servers import missing
from tests.system.docs.pages import DOCS

ROOT = DOCS.parent
LINKED_HOSTS = {"github.com", "127.0.0.1"}
"""that pages name in a link, which a reader may follow"""


class Links(HTMLParser):
    """What a page loads, where it leads, and the places in it to which others may lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.places: set[str] = set()
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        self.classes |= set(found.get("class", "").split())
        if "href" in found:
            (self.leads if tag == "a" else self.loads).append(found["href"])
        self.loads += [found[name] for name in ("src", "srcset", "data", "action") if name in found and tag != "form"]


@pytest.fixture(name="site", scope="module")
def site_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("site")
    environment, built = folder / "environment", folder / "built"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"]
    python = environment / "bin" / "python"
    done = _run(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile", *wanted)
    if done.returncode and "connection" in done.stderr.lower():
        missing("The package index cannot be reached.")
    assert done.returncode == 0, done.stderr[-4000:]
    done = _run(str(python), "-m", "mkdocs", "build", "--strict", "--site-dir", str(built))
    assert done.returncode == 0, done.stdout + done.stderr
    yield built
    shutil.rmtree(folder)


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PIP_RETRIES": "2"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(name="pages", scope="module")
def pages_(site: Path) -> dict[Path, Links]:
    return {page: Links(page.read_text()) for page in sorted(site.rglob("*.html"))}


def test_every_page_is_on_the_site(site: Path, pages: dict[Path, Links]) -> None:
    names = {str(page.relative_to(site)) for page in pages}
    for page in DOCS.rglob("*.md"):
        if "work" not in page.relative_to(DOCS).parts:
            name = page.relative_to(DOCS).with_name("index.md" if page.name == "README.md" else page.name)
            assert str(name.with_suffix(".html")) in names
    assert {"changelog.html", "project.html"} <= names
    assert not [*site.rglob("*.py"), *site.rglob("__pycache__")]


def test_links_and_their_anchors_lead_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    broken = []
    for page, links in pages.items():
        for target in links.leads + links.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            file = file / "index.html" if file.is_dir() else file
            wrong_place = file in pages and parts.fragment and unquote(parts.fragment) not in pages[file].places
            if not file.exists() or (wrong_place and parts.fragment != "__top"):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: dict[Path, Links]) -> None:
    for page, links in pages.items():
        assert [target for target in links.loads if urlsplit(target).netloc] == [], page
        hosts = {urlsplit(target).hostname for target in links.leads if urlsplit(target).netloc}
        assert hosts <= LINKED_HOSTS, page
        # The theme's script would fetch another one for these.
        assert not links.classes & {"mermaid", "md-source"}, page
    for style in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text()) == [], style


def test_the_reference_has_signatures_and_documentation(site: Path) -> None:
    text = (site / "api.html").read_text()
    for name in ("certiset.fit", "certiset.Predictor.predict_set", "certiset.core.bounds.vovk_2b", "certiset.Client"):
        assert f'id="{name}"' in text, name
    assert "calibration" in text
