"""The reader of pages is strict: what fails, is unknown or prints something else is noticed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.docs.pages import Block, blocks_of
from tests.system.docs.shell import Reader


@pytest.fixture(name="reader")
def reader_(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    try:
        yield reader
    finally:
        reader.close()


def block(text: str, shown: str | None = None, language: str = "sh") -> Block:
    return Block("page.md", 1, language, text, shown)


def test_variables_and_folders_last_and_ids_are_filled_in(reader: Reader) -> None:
    reader.do(block("NAME=world\necho made ds-0123456789"))
    reader.do(block("echo hello $NAME\necho ds-… \\\n    twice", "hello …\nds-0123456789 twice\n"))


@pytest.mark.parametrize(
    ("text", "language"),
    [("false", "sh"), ("false | cat", "sh"), ("certiset nothing", "sh"), ("raise SystemExit(1)", "python")],
)
def test_a_failure_is_noticed(reader: Reader, text: str, language: str) -> None:
    with pytest.raises(AssertionError):
        reader.do(block(text, language=language))


def test_another_output_is_noticed(reader: Reader) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:1 shows"):
        reader.do(block("echo 1", "2\n"))


@pytest.mark.parametrize(
    "command",
    [
        "docker compose up -d",  # there are no passwords
        "deploy/compose/make-secrets && docker compose up -d nobody",
        "deploy/compose/make-secrets && docker compose up --daemon",
        "deploy/compose/make-secrets && docker compose -f missing.yml up",
        "deploy/compose/make-secrets && docker compose up --scale workers=2",
        "deploy/compose/make-secrets && docker compose exec api certiset key create",
        "deploy/compose/make-secrets && docker compose exec api sh",
        "deploy/compose/make-secrets && docker compose exec postgres pg_dump --username=root certiset",
        "docker build --build-arg TORCHES=1 .",
        "docker run certiset",
    ],
)
def test_docker_commands_that_could_not_work_are_noticed(reader: Reader, command: str) -> None:
    with pytest.raises(AssertionError):
        reader.do(block(command))


def test_pages_are_read_block_by_block(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```sh\necho 1\n```\n\n```text\n1\n```\n\nwords\n\n```python\nprint(2)\n```\n")
    assert blocks_of(page) == [
        Block("page.md", 3, "sh", "echo 1\n", "1\n"),
        Block("page.md", 13, "python", "print(2)\n", None),
    ]
