"""Xacro files made into plain ones by the package of that name, in a process that can do nothing else.

Xacro's formulas are Python's own, evaluated without its builtins. What they may reach beyond arithmetic is shut off
around them: the process has no environment, a limit on time and memory, and an audit hook that refuses to write files,
to start programs and to open connections. `docs/decisions/` says why there is no reader of macros of our own.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from torseur.description.readers.meshes.package_folders import package_folders
from torseur.description.readers.xml_document import LARGEST_FILE, Element, RobotFileError
from torseur.extras import install_command

_MAKING = {f"xacro:{word}" for word in ("macro", "include", "property", "arg", "if", "unless", "insert_block")}

LONGEST = 60.0  # s
MEMORY = 4 * 2**30  # bytes

# Runs in the other process: its standard input has the paths, its standard output gets the plain file.
_PROGRAM = r"""
import json, os, sys

task = json.load(sys.stdin)
sys.path[:0] = task["paths"]
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (task["memory"], task["memory"]))
except (ImportError, ValueError, OSError):
    pass  # Windows has no such limits; the time limit holds there too
import xacro, xacro.substitution_args as substitution

def find(package):
    if package in task["packages"]:
        return task["packages"][package]
    folder = os.path.dirname(os.path.abspath(task["file"]))
    while True:
        for place in (folder, os.path.join(folder, package)):
            if os.path.basename(place) == package and os.path.isdir(place):
                return place
        if os.path.dirname(folder) == folder:
            if package in task["named"]:
                return task["named"][package]
            raise substitution.SubstitutionException("the folder of package '%s' is not known" % package)
        folder = os.path.dirname(folder)

substitution._eval_find = find
substitution._eval_dict["find"] = find
REFUSED = ("subprocess.", "socket.", "os.system", "os.exec", "os.fork", "os.spawn", "os.posix_spawn", "os.remove",
           "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
           "os.putenv", "shutil.", "ctypes.")

def refuse(event, arguments):
    if event == "open":
        mode, flags = arguments[1], arguments[2] or 0
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if writes or set(str(mode or "")) & set("wax+"):
            raise PermissionError("a xacro file may not write files")
    elif event == "import":
        if arguments[0].partition(".")[0] not in ALLOWED:
            raise PermissionError("a xacro file may not import " + arguments[0])
    elif event.startswith(REFUSED):
        raise PermissionError("a xacro file may not do this: " + event)

ALLOWED = {"xml", "yaml", "_yaml", "encodings", "pyexpat", "codecs", "io", "unicodedata"}
sys.addaudithook(refuse)
try:
    document = xacro.process_file(task["file"], mappings=task["arguments"])
    sys.stdout.write(document.toxml())
except BaseException as problem:
    parts = []
    while problem is not None:
        text = problem.args[0] if problem.args and isinstance(problem.args[0], str) else str(problem)
        parts += [text] if text and text not in parts and not text.startswith("<class") else []
        problem = getattr(problem, "exc", None)
    sys.stderr.write("\n" + " ".join(": ".join(parts).split()))
    sys.exit(3)
"""


def is_xacro(root: Element, file: Path) -> bool:
    """Whether a file still has macros to expand: elements of xacro, or formulas where it says that it has such.

    Calls of macros that a URDF file neither has nor includes are what an expansion left behind; they are listed.
    """
    words = {element.tag for element in root.walk() if element.tag.startswith("xacro:")}
    if file.suffix.lower() == ".urdf" and words and not words & _MAKING and not _has_formulas(root):
        return False
    declared = file.suffix.lower() == ".xacro" or "xmlns:xacro" in root.attributes
    return any(
        element.tag.startswith("xacro:")
        or (declared and any("$" in attribute.value for attribute in element.attributes.values()))
        for element in root.walk()
    )


def _has_formulas(root: Element) -> bool:
    return any("$" in attribute.value for element in root.walk() for attribute in element.attributes.values())


def expand_xacro(file: Path, packages: Mapping[str, str | Path], arguments: Mapping[str, str]) -> bytes:
    """The plain text of a xacro file; `arguments` are what it calls xacro:arg."""
    installed = importlib.util.find_spec("xacro")
    if installed is None or installed.origin is None:
        raise RobotFileError(
            f"{file.name}: this is xacro: macros that make the robot. Its package expands them: "
            f"{install_command('xacro')}. Or expand it yourself: xacro in.urdf > out.urdf"
        )
    task = {
        "file": str(file.absolute()),
        "packages": {name: str(Path(folder).absolute()) for name, folder in packages.items()},
        "named": {name: str(folder) for name, folder in package_folders(file.absolute().parent).items()},
        "arguments": {name: str(value) for name, value in arguments.items()},
        "paths": [path for path in sys.path if path],
        "memory": MEMORY,
    }
    try:
        done = subprocess.run([sys.executable, "-I", "-c", _PROGRAM], input=json.dumps(task).encode(), timeout=LONGEST,
                              capture_output=True, env={}, cwd=file.absolute().parent, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RobotFileError(f"{file.name}: xacro did not expand it within {LONGEST:g} s.") from None
    except OSError as problem:
        raise RobotFileError(f"{file.name}: xacro could not be run: {problem.strerror}.") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        reason = lines[-1] if lines else "it ended early"
        raise RobotFileError(f"{file.name}: xacro could not expand it: {reason}{_advice(reason)}")
    if len(done.stdout) > LARGEST_FILE:
        raise RobotFileError(f"{file.name}: it expands to {len(done.stdout)} bytes; the limit is {LARGEST_FILE}.")
    return done.stdout


def _advice(reason: str) -> str:
    """What would help, where that is plain."""
    if package := re.search(r"the folder of package '([^']+)' is not known", reason):
        name = package[1]
        return f". Say where it is: packages={{'{name}': '/its/folder'}}, in a name '?packages={name}:/its/folder'"
    if missing := re.search(r"Undefined substitution argument:? (\w+)", reason):
        name = missing[1]
        return f". Give it a value: arguments={{'{name}': '...'}}, in a name '?arguments={name}:...'"
    return ""
