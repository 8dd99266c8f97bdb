"""The loop doctor is unfinished: its tests are kept here and run by name (pytest tests/loops/test_table.py) until it is."""

from pathlib import Path

READY = {"test_constraint_equations.py"}
collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if path.name not in READY]
