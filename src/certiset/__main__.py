"""``python -m certiset`` is the ``certiset`` command."""

import sys

from certiset.service.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
