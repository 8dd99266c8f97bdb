"""Mutants of every kind of file that is read: each is read, or refused with an error of the package, and soon.

Run as a script for a long search:  python tests/edges/fuzz.py --count 100000 --seed 1 [FORMAT ...]
A mutant that fails is written to the folder given by --keep. The mutants of descriptions and robot files are those of
tests/description/language/fuzz.py and tests/description/readers/fuzz.py; this is their harness too.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2] / "src")]

from description.language import fuzz as descriptions
from description.readers import fuzz as robots

LONGEST_WAIT = 60  # seconds of real time after which a mutant counts as a hang, however busy the machine is
PROCESS_EACH = ("xacro",)
"""Formats of which each mutant is read by a process of its own."""
SLOWEST = 5.0  # seconds of work that one mutant may take

Change = Callable[[random.Random, bytes], bytes]
NUMBERS = ("", "0", "-1", "nan", "inf", "-inf", "1e308", "1e400", "1e-320", "9" * 400, "1e9", "1000000000000", "--1",
           "1,5", "0x10", "1_0", "１", "true", "-0.0", ".", "e", "99999999999999999999", "0.1.2")  # fmt: skip
WORDS = ("", " ", "time", "m", "kg", "mm", "[mm]", "N*m", "x", "X1", "'", '"', "`", "\\", "\x00", "\x1b[31m", "é", "\ud800",
         "🤖", "\u202e", "..", "/dev/zero", "../../etc/passwd", "library:pendulum", "[", "]", "{", "}", "=", ",", ";", "\t",
         "\n", "\r\n", "#", "%", "endheader", "PathFileType", "nRows=3", "solid", "facet", "v 1 2 3", "f 1 2 3",
         "f 1/2/3 -1 99999", "vertex", "null", "[[]]", "a.b.c", '"' * 3, "x" * 5000)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_]+")


# Changes of bytes know nothing of what they change; those of words keep most of a document right, so that what reads
# its content is reached too.
def _flip(rng: random.Random, raw: bytes) -> bytes:
    place = rng.randrange(len(raw))
    return raw[:place] + bytes([raw[place] ^ 1 << rng.randrange(8)]) + raw[place + 1 :]


def _byte(rng: random.Random, raw: bytes) -> bytes:
    place = rng.randrange(len(raw))
    return raw[:place] + bytes([rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))]) + raw[place + 1 :]


def _wide(rng: random.Random, raw: bytes) -> bytes:
    """A word or a floating point number of a binary file."""
    form = rng.choice(("<h", ">h", "<f", ">f", "<i"))
    value = (
        rng.choice((0, -1, 1, 255, 32767, -32768))
        if form[1] in "hi"
        else rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e38, 1e-40))
    )
    new = struct.pack(form, value)
    place = rng.randrange(max(len(raw) - len(new), 1))
    return raw[:place] + new + raw[place + len(new) :]


def _cut(rng: random.Random, raw: bytes) -> bytes:
    a, b = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
    return raw[:a] + raw[b if rng.random() < 0.3 else min(b, a + 20) :]


def _end(rng: random.Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def _double(rng: random.Random, raw: bytes) -> bytes:
    a = rng.randrange(len(raw))
    b = min(len(raw), a + rng.choice((1, 8, 60, 600)))
    return raw[:a] + raw[a:b] * rng.choice((2, 3, 50)) + raw[b:]


def _move(rng: random.Random, raw: bytes) -> bytes:
    a = rng.randrange(len(raw))
    b = min(len(raw), a + rng.choice((4, 40, 400)))
    rest = raw[:a] + raw[b:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + raw[a:b] + rest[at:]


def _number(rng: random.Random, raw: bytes) -> bytes:
    return _replaced(rng, raw, _NUMBER, rng.choice(NUMBERS))


def _word(rng: random.Random, raw: bytes) -> bytes:
    return _replaced(rng, raw, _WORD, rng.choice(WORDS))


def _insert(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(WORDS + NUMBERS).encode("utf-8", "surrogatepass") + raw[at:]


def _nest(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice((b"[", b"{", b"(", b'{"a":', b"a.")) * rng.choice((3, 50, 5000)) + raw[at:]


def _lines(rng: random.Random, raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    rng.shuffle(lines) if rng.random() < 0.2 else lines.pop(rng.randrange(len(lines)))
    return b"".join(lines)


def _replaced(rng: random.Random, raw: bytes, pattern: re.Pattern[bytes], new: str) -> bytes:
    found = list(pattern.finditer(raw))
    if not found:
        return raw + new.encode("utf-8", "surrogatepass")
    chosen = rng.choice(found)
    return raw[: chosen.start()] + new.encode("utf-8", "surrogatepass") + raw[chosen.end() :]


BINARY = (_flip, _flip, _byte, _byte, _wide, _wide, _cut, _end, _double, _move)
TEXT = (
    _number,
    _number,
    _number,
    _word,
    _word,
    _insert,
    _insert,
    _lines,
    _flip,
    _byte,
    _cut,
    _end,
    _double,
    _move,
    _nest,
)


@dataclass(frozen=True)
class Format:
    """A kind of file: what mutants start from, how they are made, and what reads one."""

    suffix: str
    corpus: tuple[bytes, ...]
    changes: tuple[Change, ...]
    read: Callable[[Path], object]

    def mutants(self, count: int, seed: int) -> Iterator[bytes]:
        rng = random.Random(seed)
        for _ in range(count):
            raw = rng.choice(self.corpus)
            for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
                raw = rng.choice(self.changes)(rng, raw) or b"\n"
            yield raw


MEMORY = Path("/dev/shm")
"""Where files are written at once; on a disk a mutant takes ten times as long."""


def search(name: str, count: int, seed: int, folder: Path) -> tuple[dict[str, int], list[str]]:
    """Tries mutants of a format; how many were read and refused, and a description of each failure.

    Those that fail are kept in `folder`.
    """
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        return _search(name, count, seed, Path(place), folder)


def _search(name: str, count: int, seed: int, place: Path, folder: Path) -> tuple[dict[str, int], list[str]]:
    from torseur.errors import TorseurError

    form, outcomes, failures = formats()[name], {"read": 0, "refused": 0}, []
    previous = signal.signal(signal.SIGALRM, _hang)
    try:
        for number, raw in enumerate(form.mutants(count, seed)):
            path = place / f"mutant{form.suffix}"
            path.write_bytes(raw)
            start = time.process_time()
            signal.alarm(LONGEST_WAIT)
            try:
                form.read(path)
                outcomes["read"] += 1
            except (TorseurError, OSError) as refusal:
                assert str(refusal).strip()
                outcomes["refused"] += 1
            except Exception:
                kept = folder / f"failure_{name.replace(' ', '_')}_{seed}_{number}{form.suffix}"
                kept.write_bytes(raw)
                failures.append(f"{kept}: {traceback.format_exc(limit=-4)}")
            finally:
                signal.alarm(0)
            if time.process_time() - start > SLOWEST:
                failures.append(f"{name} {number} of seed {seed} took {time.process_time() - start:.1f} s")
    finally:
        signal.signal(signal.SIGALRM, previous)
    return outcomes, failures


def _hang(number: int, frame: object) -> None:
    raise RuntimeError(f"no answer in {LONGEST_WAIT} s")


STUDY = b"""mechanism = "library:mass_spring_damper"
until = "2 s"
samples = 5
chunk = 3
rtol = 1e-8
[vary]
m = { from = "0.5 kg", to = "2 kg", count = 4 }
"x(0)" = { values = ["1 cm", 0.5] }
[operating_points]
c = { values = [0.5, 0.6] }
[design]
kind = "grid"
[values]
k = "30 N/m"
[criteria]
x = "x"
sum = { integral = "x" }
first = { event_time = "x", direction = -1 }
[outputs]
place = "x"
"""
OPTIMISATION = b"""mechanism = "library:mass_spring_damper"
until = "1 s"
objective = { maximise = "place" }
constraints = { place = { at_most = "3 cm" } }
starts = 3
derivatives = ["k"]
[vary]
k = { from = "10 N/m", to = "35 N/m" }
[tolerances]
m = { deviation = "1 %" }
[criteria]
place = "x"
"""
IDENTIFICATION = b"""mechanism = "arm.lsd"
[data]
trials = ["run1.csv"]
[columns]
q1 = "q1"
"""
VALUES = b"""[parameters]
m = "4 kg"
l = 0.5
[initial]
q = "10 deg"
[laws]
"f(x)" = "-3*x"
"""
TRC = b"""PathFileType\t4\t(X/Y/Z)\ta.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t4\t2\tmm\t100\t1\t4
Frame#\tTime\tLASI\t\t\tRASI
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0.00\t100.1\t200.2\t900.3\t110.0\t20.0\t905.0
2\t0.01\t101.1\t201.2\t901.3\t\t\t
3\t0.02\t102.1\t202.2\t902.3\t112.0\t22.0\t907.0
4\t0.03\t103.1\t203.2\t903.3\t113.0\t23.0\t908.0
"""
MOT = b"""Ground forces
version=1
nRows=3
nColumns=10
inDegrees=no
endheader
time\tground_force_vx\tground_force_vy\tground_force_vz\tground_force_px\tground_force_py\tground_force_pz\tground_torque_x\tground_torque_y\tground_torque_z
0.0\t1\t700\t3\t0.1\t0\t0.2\t0\t1\t0
0.01\t2\t710\t3\t0.1\t0\t0.2\t0\t1\t0
0.02\t3\t720\t3\t0.1\t0\t0.2\t0\t1\t0
"""
MARKERS = b"""time [s],LASI.x [mm],LASI.y [mm],LASI.z [mm],RASI.x [mm],RASI.y [mm],RASI.z [mm]
0.0,100.1,200.2,900.3,110,20,905
0.01,101.1,201.2,901.3,,,
0.02,102.1,202.2,902.3,112,22,907
"""
RECORDING = b"""# logger
time [s];q1 [deg];tau1 (Nm)
0,0;1,5;-0,25
0,1;1,6;-0,35
0,2;n/a;-0,45
"""
TRAJECTORY_CSV = b"time [s],q [rad],u [rad/s]\n0.0,1.0,0.5\n0.1,1.5,0.25\n"
TABLE = b"".join(b"%.1f, 0.%d, 0, 0.1, 0, 0.0%d, 0\n" % (0.1 * k, k, k) for k in range(6))
STATE = json.dumps({
    "text": "mechanism m ;", "revision": 3, "values": {"m": 1.0}, "initial": {"q": 0.5}, "until": 10.0,
    "formalism": "recursive", "level": "scalar", "criterion": "", "name": "library:pendulum",
}).encode()  # fmt: skip
MESSAGES = (
    json.dumps({"kind": "describe", "number": 3, "text": "mechanism m ;", "values": {"m": 1.0}, "until": 2.0}).encode(),
    json.dumps(
        {"kind": "move", "number": 4, "text": "mechanism m ;", "initial": {"q": 0.1}, "level": "matrix"}
    ).encode(),
)
STL = b"""solid a
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid a
"""
BINARY_STL = bytes(80) + struct.pack("<I", 2) + 2 * (struct.pack("<12f", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0) + b"\0\0")
COLLADA = b"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="tent"><mesh>
<source id="points"><float_array id="numbers" count="12">0 0 0 1000 0 0 0 1000 0 0 0 1000</float_array></source>
<vertices id="corners"><input semantic="POSITION" source="#points"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#corners" offset="0"/><p>0 1 2 0 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node><translate>0 500 0</translate><scale>1 2 1</scale>
<node><matrix>1 0 0 0 0 1 0 5 0 0 1 0 0 0 0 1</matrix><instance_geometry url="#tent"/></node></node></visual_scene>
</library_visual_scenes></COLLADA>"""
XACRO = b"""<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="bars" default="2"/>
<xacro:property name="len" value="0.5"/><xacro:macro name="bar" params="n parent:=base *shape"><link name="b${n}">
<inertial><mass value="${4*len**2}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j${n}" type="continuous"><xacro:insert_block name="shape"/><parent link="${parent}"/><child link="b${n}"/>
</joint></xacro:macro><link name="base"/><xacro:bar n="1"><origin xyz="${len*cos(0)} 0 0"/></xacro:bar>
<xacro:if value="${int('$(arg bars)') &gt; 1}"><xacro:bar n="2" parent="b1"><origin rpy="0 ${pi/2} 0"/></xacro:bar>
</xacro:if></robot>"""
SDF = b"""<sdf version="1.7"><world name="yard"><gravity>0 0 -9.8</gravity><model name="arm"><pose>0 0 1 0 0 0.5</pose>
<frame name="mark" attached_to="lower"><pose relative_to="lower">0.1 0 0 0 0 0</pose></frame>
<link name="upper"><pose>0 0 0.2 0 0 0</pose><inertial><mass>2</mass><pose>0.1 -0.2 0.05 0 0 0</pose>
<inertia><ixx>0.3</ixx><iyy>0.2</iyy><izz>0.25</izz><ixy>0.01</ixy></inertia></inertial>
<collision name="c"><geometry><cylinder><radius>0.1</radius><length>0.5</length></cylinder></geometry></collision></link>
<link name="lower"><pose relative_to="upper">0 0 0.4 0.1 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name="base" type="revolute"><parent>world</parent><child>upper</child><axis><xyz>0 1 0</xyz>
<limit><lower>-1</lower><upper>1</upper><effort>5</effort></limit><dynamics><damping>0.1</damping></dynamics></axis></joint>
<joint name="elbow" type="universal"><parent>upper</parent><child>lower</child><axis><xyz>1 0 0</xyz></axis>
<axis2><xyz expressed_in="mark">0 1 0</xyz></axis2></joint></model></world></sdf>"""
TYRE = b"""[MDI_HEADER]
FILE_TYPE ='tir'
[UNITS]
LENGTH ='meter'
FORCE ='newton'
ANGLE ='radians'
[MODEL]
PROPERTY_FILE_FORMAT ='PAC2002'   $ version
TYRESIDE = 'LEFT'
[VERTICAL]
UNLOADED_RADIUS = 0.313 $ m
VERTICAL_STIFFNESS = 2.1e5
FNOMIN = 4000
PCY1 = 1.193
PDY1 = -0.990
PKY1 = -14.95
PKY2 = 2.130
PCX1 = 1.685
"""
KNOWN_OF_TYRE = frozenset({"R", "k", "c", "F_0", "PCY1", "PDY1", "PKY1", "PKY2", "PCX1", "RCX1"})
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 2 3\nf 1//1 3//1 4//1\n"


@cache
def formats() -> dict[str, Format]:
    """All kinds of files, by name."""
    from analysis.biomechanics.test_c3d import made_file
    from torseur.analysis.biomechanics.files.c3d import read_c3d
    from torseur.analysis.biomechanics.files.opensim_files import plates_from_mot, read_mot
    from torseur.analysis.biomechanics.files.read_motion import read_motion
    from torseur.analysis.identification.data import identification_study_file
    from torseur.analysis.identification.data.data_files import read_table
    from torseur.analysis.studies import read_study
    from torseur.cli.shared.value_options import _tables
    from torseur.computation.simulation.output.trajectory_files import read as read_trajectory
    from torseur.description.language import load, parse
    from torseur.description.language.formulas.tyre_files import read_tyre_file
    from torseur.description.readers import read_robot
    from torseur.description.readers.meshes.read_mesh import read_mesh
    from torseur.presentation.studio.messages import read_data, read_request

    texts = tuple(f"{statements};".encode() for text in descriptions.corpus() for statements in _pieces(text))
    models = tuple(map(str.encode, (robots.osim_model(extra=robots.EXTRAS), robots.osim_model(30000))))
    c3d = tuple(made_file(processor, is_float)[0] for processor in (84, 85, 86) for is_float in (True, False))
    return {
        "lsd": Format(".lsd", texts, _over(descriptions.CHANGES), load),
        "urdf": Format(".urdf", _robots(".urdf"), _over(robots.MUTATIONS, text_first=True), read_robot),
        "mjcf": Format(".xml", _robots(".xml"), _over(robots.MUTATIONS, text_first=True), read_robot),
        "xacro": Format(".urdf.xacro", (XACRO,), _over(robots.MUTATIONS, text_first=True) + TEXT, read_robot),
        "sdf": Format(".sdf", (SDF,), _over(robots.MUTATIONS, text_first=True), read_robot),
        "osim": Format(".osim", models, _over(robots.MUTATIONS, text_first=True), read_robot),
        "tyre": Format(".tir", (TYRE,), TEXT, lambda path: read_tyre_file(path, path.name, KNOWN_OF_TYRE)),
        "study": Format(".toml", (STUDY, OPTIMISATION), TEXT, read_study),
        "identification": Format(".toml", (IDENTIFICATION,), TEXT, identification_study_file.read_study),
        "values": Format(".toml", (VALUES,), TEXT, _tables),
        "values json": Format(".json", (b'{"parameters": {"m": "4 kg"}, "initial": {"q": 1}}',), TEXT, _tables),
        "c3d": Format(".c3d", c3d, BINARY, read_c3d),
        "trc": Format(".trc", (TRC,), TEXT, read_motion),
        "mot": Format(".mot", (MOT,), TEXT, lambda path: plates_from_mot(read_mot(path))),
        "marker csv": Format(".csv", (MARKERS,), TEXT, read_motion),
        "recording csv": Format(".csv", (RECORDING,), TEXT, lambda p: read_table(p).quantity("q1", "rad")),
        "trajectory csv": Format(".csv", (TRAJECTORY_CSV,), TEXT, read_trajectory),
        "trajectory json": Format(".json", (_trajectory(),), TEXT, read_trajectory),
        "table": Format(".dat", (TABLE,), TEXT, lambda path: _with_table(parse, path)),
        "stl": Format(".stl", (STL, BINARY_STL), BINARY + TEXT, read_mesh),
        "obj": Format(".obj", (OBJ,), TEXT, read_mesh),
        "saved state": Format(".json", (STATE,), TEXT, _session),
        "collada": Format(".dae", (COLLADA,), _over(robots.MUTATIONS, text_first=True) + BINARY, read_mesh),
        "page message": Format(".json", MESSAGES, TEXT, lambda p: read_request(read_data(_decoded(p)))),
        "optimisation log": Format(".jsonl", (_log(),), TEXT, _journal),
    }  # fmt: skip


def _pieces(text: str) -> Iterator[str]:
    """A text, and a few statements of it: small ones are read sooner, and more of them."""
    yield text
    statements = text.split(";")
    for k in range(0, len(statements), 4):
        yield ";".join(statements[k : k + 4])


def _robots(suffix: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in robots.SEEDS if path.suffix == suffix)


def _over(changes: Sequence[Callable[..., str]], text_first: bool = False) -> tuple[Change, ...]:
    """Changes of text as changes of bytes, and one byte changed now and then."""

    def change(one: Callable[..., str]) -> Change:
        def apply(rng: random.Random, raw: bytes) -> bytes:
            text = raw.decode("utf-8", "replace")
            return (one(text, rng) if text_first else one(rng, text)).encode("utf-8", "surrogatepass")

        return apply

    return (*map(change, changes), _flip)


def _decoded(path: Path) -> str:
    """As JSON has it: lone surrogates come as escapes."""
    return path.read_bytes().decode("utf-8", "replace").replace("\\", "\\ud800")


def _with_table(parse: Callable[..., object], path: Path) -> None:
    text = f'let b = body mass = 1 kg end ; join earth and b.frame with screw(z) table "{path.name}" end ;'
    parse(text, "t.lsd", path.parent)


def _session(path: Path) -> None:
    """The state of a page that was kept, read as the studio does, and kept again."""
    from torseur.presentation.studio.session import Session

    session = Session(None, "library:pendulum", path.parent)
    path.replace(session.store)
    session = Session(None, "library:pendulum", path.parent)
    session.keep({"revision": 4})


def _journal(path: Path) -> None:
    from torseur.analysis.studies.optimisation.optimisation_journal import Journal

    journal = Journal(path, "digest")
    journal.begin()
    assert len(journal.iterates) <= 3 and len(journal.end_messages) <= 1


def _log() -> bytes:
    from torseur.edges.integrity import seal

    steps = [{"study": "digest", "step": k, "start": 0, "point": [0.5], "criteria": [k + 0.25]} for k in range(3)]
    end = {"study": "digest", "start": 0, "steps": 3, "message": "done"}
    return b"".join(seal(line) for line in ({"study": "digest"}, *steps, end))


def _trajectory() -> bytes:
    import torseur as ts
    from torseur.description import library

    with tempfile.TemporaryDirectory() as folder:
        motion = ts.simulate(ts.derive(library.load("pendulum")), until=0.1, samples=3)
        motion.save(Path(folder, "t.json"))
        return Path(folder, "t.json").read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FORMAT", help="all by default")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "fuzz_edges")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in arguments.names or formats():
        start = time.perf_counter()
        outcomes, failures = search(name, arguments.count, arguments.seed, arguments.keep)
        failed += len(failures)
        print(f"{name}: {outcomes['read']} read, {outcomes['refused']} refused, {len(failures)} failures "
              f"in {time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip
        print("\n".join(failures[:5]), end="\n" if failures else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
