"""The command `torseur`: thin; every command is one file and calls one public function or two."""

from __future__ import annotations

import gc

# What a command loads stays. Looking for cycles of garbage after every 700 new objects, as Python does, takes an eighth
# of the time of a report; after every 5,000 or more it takes none that can be measured.
# What the collector took: docs/decisions/0057-start-of-a-command.md.
OBJECTS_BETWEEN_COLLECTIONS = 10_000


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    from torseur.cli.app import app
    from torseur.cli.shared.exits import guard

    guard(app)()
