"""The commands of `python -m api`, one file each. A command has NAME, HELP, `add(parser)` and `run(config,
arguments)`."""
