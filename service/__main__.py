"""``python -m service`` is the ``certiset`` command."""

import sys

from service.cli import main

sys.exit(main())
