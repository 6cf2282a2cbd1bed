"""How wide the letters of Helvetica are, which every PDF reader has: so that lines break where they must.

In thousandths of the font's size, from the space to the tilde, as Adobe's metrics have them.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

_REGULAR = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 "
    "278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 "
    "722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 "
    "556 556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 "
    "333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 "
    "667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 "
    "611 389 556 333 611 556 778 556 556 500 389 280 389 584"
)
_OTHER = 556
"""of every letter beyond ASCII: about right for those that occur"""


@dataclass(frozen=True)
class Font:
    name: str
    """in the PDF's own list of fonts"""
    base: str
    widths: tuple[int, ...]

    def width(self, text: str, size: float) -> float:
        """In points."""
        return sum(self._of(letter) for letter in text) * size / 1000

    def fitting(self, text: str, size: float, room: float) -> int:
        """How many letters fit into the room."""
        ends = [end * size / 1000 for end in accumulate(self._of(letter) for letter in text)]
        return bisect_right(ends, room)

    def _of(self, letter: str) -> int:
        place = ord(letter) - ord(" ")
        return self.widths[place] if 0 <= place < len(self.widths) else _OTHER


REGULAR = Font("F1", "Helvetica", tuple(map(int, _REGULAR.split())))
BOLD = Font("F2", "Helvetica-Bold", tuple(map(int, _BOLD.split())))


def wrapped(text: str, font: Font, size: float, room: float) -> list[str]:
    """Lines that fit into the room; a word that is too long for one is cut."""
    lines = [""]
    for word in text.split():
        rest = word
        while font.width(rest, size) > room:
            fits = max(1, font.fitting(rest, size, room))
            lines += [rest[:fits], ""] if lines[-1] else [rest[:fits]]
            rest = rest[fits:]
        longer = f"{lines[-1]} {rest}" if lines[-1] else rest
        if font.width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(rest)
    return [line for line in lines if line]
