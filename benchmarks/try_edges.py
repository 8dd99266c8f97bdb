"""Everything at the edges, tried as a hostile tester and an unlucky user would, with counts; nothing may be lost.

    python benchmarks/try_edges.py [--minutes 30] [--table benchmarks/results/edges.md] [--only TRIAL ...]

Each trial takes its part of the time. A loss is an answer that is wrong without a word, a traceback, a process that
ends by itself or does not end, a worker that stays, bytes that differ from an undisturbed run. The oracle of a
disturbed sweep is an undisturbed one, bit by bit.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

PROJECT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PROJECT / "tests"), str(PROJECT / "src")]

STUDY = """
mechanism = "library:mass_spring_damper"
until = "2 s"
samples = 5
chunk = 3
[vary]
m = { from = "0.5 kg", to = "2 kg", count = 8 }
c = { values = [0.5, 0.6, 0.7] }
[criteria]
x = "x"
[outputs]
place = "x"
"""
LOOPS = """
mechanism = "library:four_bar"
until = "0.2 s"
chunk = 1
[vary]
a = { from = "0.35 m", to = "0.45 m", count = 40 }
[criteria]
angle = "alpha"
"""
SWEEP = """
import sys
from torseur.analysis.studies import sweep
if __name__ == "__main__":
    sweep(sys.argv[1], sys.argv[2], **eval(sys.argv[3]))
    print("done")
"""
Outcome = tuple[str, int, list[str]]
"""What was tried, how often, and what was lost."""


@dataclass
class Desk:
    """A folder to work in, the time a trial has, and the dice of this run."""

    folder: Path
    seconds: float
    dice: random.Random

    def __post_init__(self) -> None:
        self.end = time.monotonic() + self.seconds

    @property
    def has_time(self) -> bool:
        return time.monotonic() < self.end

    def study(self, text: str) -> tuple[Path, Any]:
        """A study and its results, undisturbed."""
        from torseur.analysis.studies import sweep

        path = self.folder / f"s{abs(hash(text)) % 1000}.toml"
        path.write_text(text)
        return path, sweep(path, path.with_suffix(".whole.zarr"), cores=1).store


def same_bits(one: Any, other: Any) -> bool:
    return set(one) == set(other) and all(one[name].values.tobytes() == other[name].values.tobytes() for name in one)


def mutants(desk: Desk) -> Iterator[Outcome]:
    """Mutated files of every format."""
    from edges.fuzz import PROCESS_EACH, formats, search

    names = list(formats())
    counts: dict[str, int] = dict.fromkeys(names, 0)
    losses: dict[str, list[str]] = {name: [] for name in names}
    block = 0
    while desk.has_time:
        for name in names:
            outcomes, failures = search(name, 25 if name in PROCESS_EACH else 500, 1000 + block, desk.folder)
            counts[name] += sum(outcomes.values()) + len(failures)
            losses[name] += failures
        block += 1
    for name in names:
        yield f"mutants of {name}", counts[name], losses[name]


def damaged_stores(desk: Desk) -> Iterator[Outcome]:
    """Every file of a store under every kind of damage, then at random."""
    from analysis.studies.test_damage import DAMAGES
    from torseur.analysis.studies import check_sweep, sweep

    study, whole = desk.study(STUDY)
    expected, count, losses = whole.dataset(), 0, []
    names = sorted(file.relative_to(whole.path) for file in whole.path.rglob("*") if file.is_file())
    cases = [(name, damage) for name in names for damage in DAMAGES]
    desk.dice.shuffle(cases)
    for name, damage in cases:
        if not desk.has_time:
            break
        copy = desk.folder / "copy.zarr"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole.path, copy)
        damage(copy / name, desk.dice)
        noticed = bool(check_sweep(study, copy))
        again = sweep(study, copy, cores=1)
        if not (noticed and again.damage and same_bits(again.store.dataset(), expected)):
            losses.append(f"{name} after {damage.__name__}")
        count += 1
    yield "damaged files of stores", count, losses


def killed_sweeps(desk: Desk) -> Iterator[Outcome]:
    """Sweeps ended by kill -9 at any instant, over and over until they are done."""
    for what, text, options in (("threads", STUDY, "{}"), ("processes over loops", LOOPS, "{'cores': 2}")):
        study, whole = desk.study(text)
        part = Desk(desk.folder, desk.seconds / 2, desk.dice)
        kills, losses, left = 0, [], []
        while part.has_time:
            store = desk.folder / f"killed{kills}.zarr"
            done = False
            while not done and part.has_time:
                process = _start(desk.folder, study, store, options)
                try:
                    process.wait(desk.dice.uniform(0.5, 8.0))
                    done = True
                    if process.returncode:
                        losses.append(f"exit {process.returncode}: {process.stderr.read()[-300:]}")
                except subprocess.TimeoutExpired:
                    workers = _children(process.pid)
                    process.kill()
                    process.wait()
                    kills += 1
                    left += [worker for worker in workers if not _gone(worker)]
            if done:
                from torseur.analysis.studies import sweep

                if not same_bits(sweep(study, store, cores=1).store.dataset(), whole.dataset()):
                    losses.append(f"{store.name}: other bits")
        yield f"kills of sweeps, {what}", kills, losses
        yield f"workers left by these, {what}", len(left), [str(pid) for pid in left]


def _start(folder: Path, study: Path, store: Path, options: str) -> subprocess.Popen[str]:
    script = folder / "run_sweep.py"
    script.write_text(SWEEP)
    command = [sys.executable, str(script), str(study), str(store), options]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src")}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _children(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            found += [int(child) for child in path.read_text().split()]
    return found


def _gone(pid: int) -> bool:
    for _ in range(250):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.02)
    return False


def full_disks(desk: Desk) -> Iterator[Outcome]:
    """A disk that is full at the first, second, third ... write of a sweep; each time it goes on from there."""
    from torseur.analysis.studies import sweep
    from torseur.errors import TorseurError

    study, whole = desk.study(STUDY)
    count, losses, place = 0, [], 0
    store = desk.folder / "full.zarr"
    while desk.has_time:
        place += 1
        shutil.rmtree(store, ignore_errors=True)
        try:
            with _full_at(place) as writes:
                sweep(study, store, cores=1)
            if writes[0] < place:
                break  # it was done before
        except TorseurError as told:
            if "No space left" not in str(told):
                losses.append(f"write {place}: {told}")
        except Exception as problem:
            losses.append(f"write {place}: {problem!r}")
        count += 1
        if not same_bits(sweep(study, store, cores=1).store.dataset(), whole.dataset()):
            losses.append(f"write {place}: other bits")
    yield "writes of a sweep to a full disk", count, losses


@contextlib.contextmanager
def _full_at(place: int) -> Iterator[list[int]]:
    """Calls that write to a disk; from the given one on they find it full."""
    writes = [0]

    def counting(call: Callable[..., Any], writing: Callable[..., bool]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            if writing(*arguments, **options):
                writes[0] += 1
                if writes[0] >= place:
                    raise OSError(28, "No space left on device")
            return call(*arguments, **options)

        return run

    def into_store(path: Any, mode: str = "r", *rest: Any, **options: Any) -> bool:
        return any(letter in mode for letter in "wxa") and ".zarr" in str(path)

    def always(*arguments: Any, **options: Any) -> bool:
        return any(".zarr" in str(argument) for argument in arguments)

    with (
        mock.patch("builtins.open", counting(open, into_store)),
        mock.patch("io.open", counting(io.open, into_store)),
        mock.patch("os.replace", counting(os.replace, always)),
        mock.patch("os.makedirs", counting(os.makedirs, always)),
    ):
        yield writes


def budgets(desk: Desk) -> Iterator[Outcome]:
    """Requests beyond all memory, each in a process of its own that may take two gigabytes."""
    from edges.test_budgets import COMMANDS, STUDIES
    from edges.test_budgets import STUDY as SMALL

    losses, count = [], 0
    for name, parts in STUDIES.items():
        text = SMALL.format(**{"head": "", "axis": "", "more": "", **{k: v for k, v in parts.items() if k != "disk"}})
        (desk.folder / f"b_{name}.toml").write_text(text)
    commands = [*COMMANDS.values(), *(["sweep", str(desk.folder / f"b_{name}.toml")] for name in STUDIES)]
    for command in commands:
        done = _command(command, {"TORSEUR_MEMORY": "1GB"})
        count += 1
        if done.returncode != 1 or len(done.stderr.strip().splitlines()) != 1:
            losses.append(f"{' '.join(command)[:80]}: exit {done.returncode}, {done.stderr[-200:]}")
    yield "requests beyond all memory", count, losses


def _command(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)); "
        "from torseur.cli import main; sys.argv[0] = 'torseur'; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *words], env={**os.environ, "PYTHONPATH": str(PROJECT / "src"), **environment},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def forged_caches(desk: Desk) -> Iterator[Outcome]:
    """Entries that another user planted or a disk damaged: never run, always one line."""
    import warnings

    from torseur import cache

    folder, count, losses = desk.folder / "cache", 0, []
    os.environ["TORSEUR_CACHE"] = str(folder)
    try:
        while desk.has_time and count < 20_000:
            cache.store("key", b"code" * 10)
            (file,) = folder.glob("*.kernel")
            content = bytearray(file.read_bytes())
            for _ in range(desk.dice.choice((1, 1, 2, 8))):
                content[desk.dice.randrange(len(content))] ^= 1 << desk.dice.randrange(8)
            changed = bytes(content) if desk.dice.random() < 0.9 else bytes(content[: desk.dice.randrange(60)])
            if changed == file.read_bytes():
                continue  # the same bit twice
            file.write_bytes(changed)
            cache._warned.clear()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                if cache.load("key") not in (None, b"code" * 10) or not told:
                    losses.append("an entry that was changed was believed")
            count += 1
    finally:
        os.environ.pop("TORSEUR_CACHE")
    yield "forged or damaged entries of the cache", count, losses


def dask_kills(desk: Desk) -> Iterator[Outcome]:
    """A sweep by dask, one of its workers killed every second."""
    study, whole = desk.study(LOOPS)
    kills, runs, losses = 0, 0, []
    while desk.has_time or not runs:
        store = desk.folder / f"dask{runs}.zarr"
        process = _start(desk.folder, study, store, "{'workers': 2}")
        begun = time.monotonic()
        while process.poll() is None and time.monotonic() < begun + 240:
            time.sleep(1.0)
            workers = [w for child in _children(process.pid) for w in (child, *_children(child)) if _is_worker(w)]
            if workers and (desk.has_time or not kills):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(desk.dice.choice(workers), 9)
                    kills += 1
        if process.poll() is None:
            process.kill()
            losses.append("a sweep did not end")
        runs += 1
        from torseur.analysis.studies import sweep

        if not same_bits(sweep(study, store, cores=1).store.dataset(), whole.dataset()):
            losses.append(f"{store.name}: other bits")
    yield f"kills of dask workers, one a second, {runs} sweeps", kills, losses


def _is_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


COMPILERS = """
import sys
from torseur.description import library
import torseur as ts
equations = ts.derive(library.load(sys.argv[1]))
print(ts.simulate(equations, until=1, samples=3).values[-1].tobytes().hex())
"""


def compilers(desk: Desk) -> Iterator[Outcome]:
    """Four processes that compile the same code into one cache at once: all get the same numbers."""
    count, losses = 0, []
    while desk.has_time:
        folder = desk.folder / f"compilers{count}"
        environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src"), "TORSEUR_CACHE": str(folder)}
        name = desk.dice.choice(("double_pendulum", "four_bar", "satellite"))
        command = [sys.executable, "-c", COMPILERS, name]
        children = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        said = [child.communicate(timeout=300) for child in children]
        if len({out for out, _ in said}) != 1 or any(err.strip() for _, err in said) or not said[0][0].strip():
            losses.append(f"{name}: {said}"[:400])
        count += 4
        shutil.rmtree(folder, ignore_errors=True)
    yield "processes that compile at once, four by four", count, losses


def studio(desk: Desk) -> Iterator[Outcome]:
    """Twenty pages, of which the newest has the word, and a thousand edits a minute, exports among them."""
    yield from asyncio.run(_studio(desk))


async def _studio(desk: Desk) -> list[Outcome]:
    import websockets

    from torseur.description.library import source_of

    script = (
        "import sys; from pathlib import Path; from torseur.presentation.studio.serving import Place, begin, serve\n"
        "serve(begin(None, Path(sys.argv[1])), Place(), lambda address: print(address, flush=True))"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", script, str(desk.folder)], env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    address = (await asyncio.to_thread(server.stdout.readline)).strip()
    socket_address = address.replace("http", "ws").rstrip("/") + "/socket"
    origin = address.split("/")[0] + "//" + address.split("/")[2]
    texts = [source_of(name) for name in ("double_pendulum", "pendulum", "four_bar")]
    counts = {"edits": 0, "answers": 0, "files": 0, "busy": 0, "pages": 0}
    losses: list[str] = []
    number, peak, most = 0, 0.0, 0
    pages: list[Any] = []
    try:
        while desk.has_time:
            for _ in range(20):
                pages.append(await websockets.connect(socket_address, origin=origin, max_size=None, max_queue=None))
                counts["pages"] += 1
            page, asked, begun = pages[-1], set(), time.monotonic()
            kind_of: dict[int, str] = {}
            for edit in range(250):  # a quarter of a minute's edits, then twenty new pages
                number += 1
                kind = desk.dice.choice(("describe",) * 6 + ("move",) * 3 + ("export",))
                text = desk.dice.choice(texts).replace("1", desk.dice.choice("1234"), desk.dice.randrange(3))
                request = {"kind": kind, "number": number, "text": text, "what": "code", "until": 1.0}
                await page.send(json.dumps(request))
                asked.add(number)
                kind_of[number] = kind
                counts["edits"] += 1
                pause = begun + (edit + 1) * 0.06 - time.monotonic()
                await _listen(page, asked, kind_of, counts, losses, max(pause, 0.01))
                peak, most = max(peak, _memory(server.pid)), max(most, len(_family(server.pid)))
            await _listen(page, asked, kind_of, counts, losses, 60.0)
            lost = [n for n in asked if kind_of[n] == "export"]
            losses += [f"export {n} was never answered" for n in lost]
            for old in pages:
                await old.close()
            pages.clear()
        if server.poll() is not None:
            losses.append("the server ended")
    finally:
        workers = _family(server.pid)
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            losses.append("the server did not end within a minute of being told to")
            server.kill()
            server.wait()
    left = [pid for pid in workers if not _gone(pid)]
    if peak > 6000:
        losses.append(f"{peak:.0f} MB")
    return [
        (f"edits in the studio, {counts['pages']} pages", counts["edits"], losses),
        (f"answers to these ({counts['files']} files, {counts['busy']} told busy)", counts["answers"], []),
        (f"most processes at once; most memory {peak:.0f} MB", most, [] if most <= 10 else ["too many"]),
        ("workers left by the studio", len(left), [str(pid) for pid in left]),
    ]


async def _listen(
    page: Any, asked: set[int], kind_of: dict[int, str], counts: dict[str, int], losses: list[str], seconds: float
) -> None:
    """Takes answers for a while, or until every export has its answer; newer texts take the place of older ones."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (seconds < 1 or any(kind_of[n] == "export" for n in asked)):
        try:
            message = await asyncio.wait_for(page.recv(), max(end - time.monotonic(), 0.001))
        except TimeoutError:
            return
        data = (
            json.loads(message)
            if isinstance(message, str)
            else json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
        )
        counts["answers"] += 1
        counts["files"] += data["kind"] == "file"
        reason = str(data.get("reason", ""))
        counts["busy"] += "Busy" in reason
        if "fault of torseur" in reason:
            losses.append(reason[:300])
        if data["kind"] == "done":
            asked.discard(data["number"])


def _family(root: int) -> list[int]:
    found, rest = [], [root]
    while rest:
        pid = rest.pop()
        found.append(pid)
        rest += _children(pid)
    return found


def _memory(root: int) -> float:
    """Megabytes that a process and its children hold, shared pages counted once for each that shares them."""
    total = 0.0
    for pid in _family(root):
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += next(float(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


TRIALS: dict[str, tuple[Callable[[Desk], Iterator[Outcome]], float]] = {
    "mutants": (mutants, 0.3),
    "damaged_stores": (damaged_stores, 0.06),
    "killed_sweeps": (killed_sweeps, 0.12),
    "full_disks": (full_disks, 0.04),
    "budgets": (budgets, 0.03),
    "forged_caches": (forged_caches, 0.02),
    "dask_kills": (dask_kills, 0.06),
    "compilers": (compilers, 0.04),
    "studio": (studio, 0.33),
}
"""Trials and their parts of the time."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, default=None)
    parser.add_argument("--only", nargs="*", choices=TRIALS, default=list(TRIALS))
    arguments = parser.parse_args()
    rows, lost = [], 0
    for name in arguments.only:
        trial, part = TRIALS[name]
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            desk = Desk(Path(folder), 60 * arguments.minutes * part, random.Random(arguments.seed))
            for what, count, losses in trial(desk):
                lost += len(losses)
                rows.append(f"| {what} | {count} | {len(losses)} |")
                print(f"{what}: {count}, lost {len(losses)} ({time.monotonic() - begin:.0f} s)", flush=True)
                for loss in losses[:5]:
                    print(f"    {loss}", flush=True)
    if arguments.table is not None:
        arguments.table.write_text(_page(rows, arguments, lost), encoding="utf-8")
    return 1 if lost else 0


PAGE = """# Edges

What was tried, how often, and what was lost, by `make edges` (`benchmarks/try_edges.py`): mutated files, damaged and
killed sweeps, full disks, requests beyond all memory, forged caches, killed workers, compilers at once, and the studio
under load. A loss is a wrong answer without a word, a traceback, a process that ends by itself or never, a worker that
stays.

{minutes:g} minutes, seed {seed}, {cores} cores; lost: {lost}.

| tried | count | lost |
| --- | ---: | ---: |
{rows}
"""


def _page(rows: list[str], arguments: argparse.Namespace, lost: int) -> str:
    return PAGE.format(
        minutes=arguments.minutes, seed=arguments.seed, cores=os.cpu_count(), lost=lost, rows="\n".join(rows)
    )


if __name__ == "__main__":
    sys.exit(main())
