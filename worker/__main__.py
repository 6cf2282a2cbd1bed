"""``python -m worker``: what ``certiset worker`` runs."""

import os
import sys

from core.errors import CertisetError
from core.settings import Settings
from worker.running import run_worker


def main() -> int:
    try:
        run_worker(Settings.from_environment(os.environ))
    except CertisetError as error:
        print(f"certiset worker: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
