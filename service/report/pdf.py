"""One page of PDF, written by hand: text in Helvetica, lines and boxes. The same content gives the same bytes."""

from dataclasses import dataclass, field

from certiset.service.report.fonts import BOLD, REGULAR, Font

WIDTH, HEIGHT = 595.0, 842.0
"""A4, in points"""
Colour = tuple[float, float, float]
BLACK: Colour = (0.0, 0.0, 0.0)


@dataclass
class Page:
    """Places are measured from the left and from the top."""

    _marks: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, font: Font, size: float, colour: Colour = BLACK) -> None:
        place = f"{_numbers(*colour)} rg {_numbers(x, HEIGHT - y)} Td"
        self._marks.append(f"BT /{font.name} {size:.2f} Tf {place} ({_escaped(text)}) Tj ET")

    def box(
        self, x: float, y: float, width: float, height: float, fill: Colour | None = None, edge: Colour | None = None
    ) -> None:
        paint = {(True, True): "B", (True, False): "f", (False, True): "S"}[fill is not None, edge is not None]
        colours = f"{_numbers(*fill)} rg " if fill else ""
        colours += f"{_numbers(*edge)} RG 0.6 w " if edge else ""
        self._marks.append(f"{colours}{_numbers(x, HEIGHT - y - height, width, height)} re {paint}")

    def line(self, x: float, y: float, end: float, colour: Colour) -> None:
        places = f"{_numbers(x, HEIGHT - y)} m {_numbers(end, HEIGHT - y)} l S"
        self._marks.append(f"{_numbers(*colour)} RG 0.5 w {places}")

    def to_bytes(self, title: str, date: str) -> bytes:
        """``date``: as PDF has it, such as 20260131120000Z."""
        content = "\n".join(self._marks).encode("latin-1")
        fonts = " ".join(f"/{font.name} {3 + place} 0 R" for place, font in enumerate((REGULAR, BOLD)))
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences << /DisplayDocTitle true >> >>",
            b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
            *(
                f"<< /Type /Font /Subtype /Type1 /BaseFont /{font.base} /Encoding /WinAnsiEncoding >>".encode()
                for font in (REGULAR, BOLD)
            ),
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH:g} {HEIGHT:g}] /Contents 6 0 R "
            f"/Resources << /Font << {fonts} >> >> >>".encode(),
            f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream",
            f"<< /Title ({_escaped(title)}) /Producer (certiset) /CreationDate (D:{date}) >>".encode("latin-1"),
        ]
        return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    """With the table that says where each object begins; the last object is the information about the document."""
    made = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n".encode() + one + b"\nendobj\n"
    table = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    made += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
    return bytes(made + f"startxref\n{table}\n%%EOF\n".encode())


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.2f}" for value in values)


def _escaped(text: str) -> str:
    """As a string of Windows' Latin alphabet, in the letters that carry its bytes; others become question marks."""
    known = text.encode("cp1252", errors="replace").decode("latin-1")
    shown = "".join(letter if ord(letter) >= ord(" ") else " " for letter in known)
    return shown.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
