"""``python -m certiset.worker``: what ``certiset worker`` runs."""

import os
import sys

from certiset.core.errors import CertisetError, UnavailableError
from certiset.core.settings import Settings
from certiset.core.store.errors import driver_message
from certiset.worker.run import run_worker


def main() -> int:
    try:
        run_worker(Settings.from_environment(os.environ))
    except UnavailableError as error:
        print(f"certiset worker: {error} ({driver_message(error)})", file=sys.stderr)
        return 2
    except CertisetError as error:
        print(f"certiset worker: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
