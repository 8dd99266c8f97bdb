"""The command `torseur`: thin; every command is one file and calls one public function or two."""

from __future__ import annotations


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    from torseur.cli.app import app
    from torseur.cli.exits import guarded

    guarded(app)()
