"""Makes docs/dashboard.png, the README's picture, from the demo: ``make picture`` (a Chromium must be installed)."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

_PICTURE = Path(__file__).with_name("dashboard.png")
_SIZE = (1360, 930)
_PORT = 8489
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "certiset", "demo", "--home", home, "--port", str(_PORT)]
        demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            take(_dashboard(demo))
        finally:
            demo.terminate()
            demo.wait(timeout=60)


def _dashboard(demo: "subprocess.Popen[str]") -> str:
    """Its address with the key, which the demo prints when everything is there."""
    assert demo.stdout is not None
    for line in demo.stdout:
        found = re.search(r"in the dashboard: (\S+)", line)
        if found:
            return found[1]
    raise SystemExit("The demo ended before it was done.")


def take(address: str) -> None:
    """The overview, once nothing on it changes any more."""
    browser = os.environ.get("CERTISET_TEST_BROWSER") or next(filter(None, map(shutil.which, _NAMES)))
    width, height = _SIZE
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = launched.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(address)
        page.get_by_role("row").filter(has_text="digits").filter(has_text="auto").wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=_PICTURE)
        launched.close()


if __name__ == "__main__":
    main()
