"""The subcommands of ``certiset``, one a file: each has ``register(subparsers)`` and runs by its ``run(options)``."""
