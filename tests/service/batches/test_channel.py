"""All that is written to a file in memory is there, in however many pieces it came and was taken."""

import os

import pytest

from certiset.service.batches.channel import write_all


@pytest.mark.parametrize("pieces", [[], [b""], [b"abc"], [b"a" * 7, b"", b"b" * 70_000, b"c"], [b"x"] * 3000])
@pytest.mark.parametrize("at_once", [1, 5, 2**20])
def test_all_pieces_are_written_in_their_order(
    pieces: list[bytes], at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.writev

    def some(descriptor: int, parts: list[memoryview]) -> int:
        """As a system that takes less than it was given."""
        left, taken = at_once if at_once > 5 else 5000 + at_once, []
        for part in parts:
            taken.append(part[:left])
            left -= len(taken[-1])
            if not left:
                break
        return real(descriptor, taken)

    monkeypatch.setattr(os, "writev", some)
    file = os.memfd_create("test")
    try:
        write_all(file, pieces)
        assert os.pread(file, 2**20, 0) == b"".join(pieces)
    finally:
        os.close(file)
