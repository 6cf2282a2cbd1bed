"""The subcommands of ``certiset``, one a file: each has ``register(subparsers)`` and a ``run(options)``."""
