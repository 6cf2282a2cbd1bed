"""The subcommands of ``certiset``, one per file: each has ``register(subparsers)`` and a ``run(options)``."""
