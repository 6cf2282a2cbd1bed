"""What the site adds to the pages: those of the project's root, a list of decisions, and diagrams as tables.

mkdocs calls the functions that begin with ``on_`` (see mkdocs.yml). Only mkdocs and the standard library are needed.
"""

import re
from collections import defaultdict
from pathlib import Path
from posixpath import join, normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ROOT_PAGES = {
    "README.md": "project.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""pages of the project's root, and their names on the site"""
DECISIONS = "decisions"
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_EDGE = re.compile(r"^\s*(\w+)(?:\[([^\]]+)\])?\s*-->\s*(\w+)(?:\[([^\]]+)\])?\s*$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.mdx_configs["toc"]["slugify"] = lambda text, separator: slug(text)
    decisions = sorted(f"{DECISIONS}/{page.name}" for page in Path(config.docs_dir, DECISIONS).glob("*.md"))
    config.nav = _with_decisions(config.nav, decisions)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, name in ROOT_PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    sources = {site: source for source, site in ROOT_PAGES.items()}
    source = sources.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    text = re.sub(r"```mermaid\n(.*?)```\n", lambda found: as_table(found[1]), markdown, flags=re.DOTALL)
    return _LINK.sub(lambda found: _link(found, source, page.file.src_uri), text)


def slug(text: str) -> str:
    """A heading's anchor, by the rule of the places where the pages are read as they stand."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


def as_table(diagram: str) -> str:
    """What depends on what: a diagram would need a script."""
    names: dict[str, str] = {}
    uses: dict[str, list[str]] = defaultdict(list)
    for left, left_name, right, right_name in _EDGE.findall(diagram):
        names |= {key: name for key, name in ((left, left_name), (right, right_name)) if name}
        uses[left].append(right)
    rows = [
        f"| `{names.get(key, key)}` | {', '.join(f'`{names.get(other, other)}`' for other in others)} |"
        for key, others in uses.items()
    ]
    return "\n".join(["| package | depends on |", "|---|---|", *rows]) + "\n"


def _link(found: re.Match[str], source: str, site: str) -> str:
    """The same target from where the page is on the site; files that are not on it are named without a link."""
    text, target, anchor = found.groups()
    if ":" in target:
        return found[0]
    path = normpath(join(source, "..", target))
    if path == f"docs/{DECISIONS}":
        path, anchor = "docs/README.md", f"#{DECISIONS}"
    on_site = ROOT_PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    return f"[{text}]({relpath(on_site, join('.', site, '..'))}{anchor or ''})" if on_site else text


def _with_decisions(nav: Any, decisions: list[str]) -> Any:
    """The navigation with the pages of decisions in place of their folder."""
    if isinstance(nav, list):
        return [_with_decisions(one, decisions) for one in nav]
    if isinstance(nav, dict):
        return {
            name: decisions if inner == f"{DECISIONS}/" else _with_decisions(inner, decisions)
            for name, inner in nav.items()
        }
    return nav
