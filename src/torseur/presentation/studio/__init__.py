"""The studio: a local page on which a mechanism is written, seen, moved and examined."""

from __future__ import annotations

from importlib.util import find_spec

from torseur.errors import UnsupportedError
from torseur.extras import install_command

# Here and not where they are used: whatever is imported of the studio first, the message says what to install.
_absent = [name for name in ("starlette", "uvicorn", "websockets") if find_spec(name) is None]
if _absent:
    raise UnsupportedError(f"the studio needs {', '.join(_absent)}: {install_command('studio')}.")
