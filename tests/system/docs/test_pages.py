"""Every command and every program in README.md and docs/ is run, page by page, and prints what the page shows.

Docker commands are held against the container files; PostgreSQL and Redis are real.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import PrivateRedis, postgres_database
from tests.system.docs.pages import DOCS, blocks_of, languages_of
from tests.system.docs.shell import Reader
from tests.system.docs.test_from_libraries import LIBRARIES

PAGES = [DOCS.parent / "README.md", *sorted(page for page in DOCS.rglob("*.md") if blocks_of(page))]
SERVED = ("models.md", "certificates.md", "deployments.md", "batches.md")
"""pages that begin where the quickstart ends: with a server running"""
ELSEWHERE = ("operations.md", *LIBRARIES)
"""pages that need more than this environment has"""


@pytest.fixture(name="redis")
def redis_() -> Iterator[PrivateRedis]:
    redis = PrivateRedis()
    redis.start()
    try:
        yield redis
    finally:
        redis.stop()


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in ELSEWHERE], ids=lambda page: page.stem)
def test_page(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        if page.name in SERVED:
            reader.start("certiset up", "up")
        for block in blocks_of(page):
            reader.do(block)
    finally:
        reader.close()


def test_operations(tmp_path: Path, redis: PrivateRedis) -> None:
    with postgres_database() as database:
        real = {
            "postgresql://certiset:secret@127.0.0.1:5432/certiset": database,
            "redis://127.0.0.1:6379/0": redis.url,
            "/srv/certiset": str(tmp_path / "srv"),
        }
        reader = Reader(tmp_path, real)
        try:
            for block in blocks_of(DOCS / "operations.md"):
                reader.do(block)
        finally:
            reader.close()


def test_every_block_says_what_it_is() -> None:
    for page in DOCS.rglob("*.md"):
        assert languages_of(page) <= {"sh", "python", "text", "json", "mermaid"}, page
