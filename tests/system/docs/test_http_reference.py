"""docs/http.md is what the service's OpenAPI document says."""

import runpy
from pathlib import Path

from certiset.core.settings import Settings
from certiset.service.http.app import create_app
from tests.system.docs.pages import DOCS


def test_the_reference_is_current(tmp_path: Path) -> None:
    reference = runpy.run_path(str(DOCS / "http_reference.py"))["reference"]
    document = create_app(Settings(home=tmp_path)).openapi()
    assert reference(document) == (DOCS / "http.md").read_text(), "Run: python docs/http_reference.py > docs/http.md"
