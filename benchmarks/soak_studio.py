"""An hour of scripted use of the studio in headless Chromium, and what memory does meanwhile.

    python benchmarks/soak_studio.py [--minutes 60] [--before 15] [--repeat 5] [--filled] [--uncompiled]

Edits of numbers and of structure, faults, sliders, handles, formalisms and levels, tabs, other mechanisms, playing and
exports, at random, on one page that is never reloaded. Some minutes in haste come before the hour: the browser compiles
the functions of a page the more thoroughly the more often they are called, and caches fill; every mechanism is shown
there at every level and in every formalism and tab, because the browser keeps what it makes of a font for each size and
colour of letters, some 70 kB each, and chance alone goes on to find new ones for hours. What else it keeps a bounded
number of (numbers as texts, long tasks and frames, slow events, files handed over) is filled on purpose. Once a minute
the page goes back to where it began, and memory is measured at rest, after collecting garbage: what the page holds, and
what the server, its workers and the browser's process that shows the page hold for themselves. The page's heap is taken
apart into what the page keeps (objects, strings, arrays, closures), the browser's own objects on its behalf (native),
and the code that the browser has made of its functions, beside the number of those. That code goes on to grow while
ever more functions have run often enough to be compiled; with `--uncompiled` the browser interprets all.

The process that shows the page is measured twice: its live blocks by its allocators' own accounts, without the free
ones that each thread keeps at hand (0.4 to 4 MB, as it happens), and its pages of memory, which have gaps. Chromium
keeps up to 2048 short texts for each font as they were shaped, and every number that the page shows is such a text;
with `--filled` that cache is full before the hour. With `--repeat 5` the actions of the first five minutes come again
and again, the numbers in them too: what a cache keeps of them is there after the first time, what is lost is lost each
time. At the end the page is read again in the same process, and measured once more.

Growth is the slope of a straight line through the second half of the samples. Something grows when the 95 % interval of
its slope lies above zero and an hour of it would add more than a hundredth of what is there. The interval is that of
independent samples, widened as far as samples resemble their neighbours: memory goes by steps, and one step makes a run
of equal samples. Workers are replaced when they have grown by a stated bound (`WORN` of the studio's crew), so that the
most they hold counts: they grow when, besides, the highest sample of the last quarter lies above that of the quarter
before it.
`python benchmarks/soak_studio.py --judge LOG` judges the lines of an earlier run.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from typing import Any

from playwright.sync_api import sync_playwright
from scipy.stats import linregress
from scipy.stats import t as student

from torseur.description.library import source_of

PROGRAM = "import sys; from torseur.cli import main; sys.argv[0] = 'torseur'; main()"
UNCOMPILED = "--js-flags=--no-sparkplug --no-maglev --no-turbofan"  # functions are interpreted, however often they run
SWITCHES = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-unsafe-swiftshader"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST = source_of("double_pendulum")
MECHANISMS = ("double_pendulum", "four_bar", "slider_crank", "pendulum_chain", "spinning_top", "mass_spring_damper")
LEVELS = ("scalar", "matrix", "recursive", "intrinsic")
FORMALISMS = ("recursive", "lagrange", "kane", "newton_euler")
REST = """() => (studio.shown.text === studio.good || !document.getElementById("blank").hidden)
    && !studio.desk.isBusy && !studio.keeping"""
SET_TEXT = "(text) => { studio.editor.replace(text); studio.editText(text); }"
FOCUS = """([selector, number]) => {
  const all = document.querySelectorAll(selector); // a mechanism that arrives meanwhile may have others, or none
  all[number % all.length]?.focus();
  return all.length > 0;
}"""
FILL = """() => {
  const fonts = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const { font, fontFeatureSettings } = getComputedStyle(element);
    fonts.set(font + fontFeatureSettings, { font, fontFeatureSettings });
  }
  for (const font of fonts.values()) {
    const box = document.createElement("div"); // each text a block of its own: longer texts are not kept
    Object.assign(box.style, font);
    box.innerHTML = Array.from({ length: 2100 }, () => `<div>${Math.random().toPrecision(6)}</div>`).join("");
    document.body.append(box);
    box.getBoundingClientRect();
    box.remove();
  }
}"""
NUMBERS = """() => {
  const one = document.createElement("i");
  for (let k = 0; k < 100000; k++) {
    one.setAttribute("title", `${k}`);
    one.setAttribute("title", `${Math.round(1e6 * Math.random()) / 100}`);
  }
}"""
SLOW = """async () => {
  const busy = (milliseconds) => { const end = performance.now() + milliseconds; while (performance.now() < end); };
  for (let k = 0; k < 220; k++) await new Promise((done) => requestAnimationFrame(() => { busy(60); done(); }));
  window.slowly = () => busy(110);
  addEventListener("keydown", window.slowly);
}"""
FILES = """async () => {
  for (let k = 0; k < 1000; k++) {
    const link = Object.assign(document.createElement("a"), { download: "nothing.txt" });
    link.href = URL.createObjectURL(new Blob([`${k}`]));
    link.click();
    await new Promise((done) => setTimeout(done, 20));
    URL.revokeObjectURL(link.href);
  }
}"""
BACK = """(text) => {
  document.getElementById("tab-loops").click();
  studio.change({ values: {}, initial: {}, level: "scalar", formalism: "recursive", criterion: "" });
  studio.editor.replace(text);
  studio.editText(text);
}"""
QUANTITIES = {
    "objects": "MB",
    "code": "MB",
    "functions": "",
    "native": "MB",
    "blocks": "MB",
    "browser": "MB",
    "elements": "",
    "nodes": "",
    "listeners": "",
    "server": "MB",
    "workers": "MB",
}
BOUNDED = ("workers",)  # by replacement
ALLOCATED = {
    "malloc/allocated_objects": "size",
    "partition_alloc/allocated_objects": "size",
    "blink_gc/main/heap": "allocated_objects_size",
}
"""Sums of live blocks by allocator, as the browser's own dumps name them; the heap of scripts has snapshots."""
AT_HAND = "malloc/partitions/allocator/thread_cache"  # free blocks of threads, which those sums take for live
Script = Iterator[random.Random]
HASTE = 6.0  # times as fast as a hand
NEGLIGIBLE = 0.01  # of what is there, per hour


def rest(page: Any, seconds: float = 30.0) -> None:
    """Waits until nothing is under way."""
    end = time.monotonic() + seconds
    while not page.evaluate(REST) and time.monotonic() < end:
        page.wait_for_timeout(50)


def edit(page: Any, dice: random.Random) -> None:
    text = page.evaluate("() => studio.state.text")
    numbers = list(re.finditer(r"\b\d+\.?\d*(?= (?:kg|m|deg|N/m)\b)", text))
    if not numbers:
        return
    one = dice.choice(numbers)
    page.evaluate(SET_TEXT, text[: one.start()] + f"{dice.uniform(0.5, 5):.3g}" + text[one.end() :])


def fault(page: Any, dice: random.Random) -> None:
    text = page.evaluate("() => studio.state.text")
    page.evaluate(SET_TEXT, text[: dice.randrange(len(text))] + " %% ")
    page.wait_for_timeout(200)
    page.evaluate(SET_TEXT, text)


def type_over(page: Any, dice: random.Random) -> None:
    """A comment is written and taken back, letter by letter, by keys."""
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type(f"(* {dice.randrange(1000)} *)")
    page.wait_for_timeout(100)
    for _ in range(dice.randrange(1, 4)):
        page.keyboard.press("Control+z")


def restructure(page: Any, dice: random.Random) -> None:
    text = page.evaluate("() => studio.state.text")
    page.evaluate(SET_TEXT, re.sub(r"-(\d+\*)?g\b", f"-{dice.randrange(2, 90)}*g", text, count=1))


def slide(page: Any, dice: random.Random) -> None:
    if page.evaluate(FOCUS, ["#parameters input[type=range]", dice.randrange(100)]):
        for _ in range(dice.randrange(3, 25)):
            page.keyboard.press(dice.choice(["ArrowLeft", "ArrowRight"]))
            page.wait_for_timeout(25)


def handle(page: Any, dice: random.Random) -> None:
    if page.evaluate(FOCUS, [".handle", dice.randrange(100)]):
        for _ in range(dice.randrange(2, 10)):
            page.keyboard.press(dice.choice(["ArrowLeft", "ArrowRight"]))
            page.wait_for_timeout(40)


def level(page: Any, dice: random.Random) -> None:
    page.click("#tab-equations")
    page.select_option("#level", dice.choice(LEVELS))


def formalism(page: Any, dice: random.Random) -> None:
    page.click("#tab-equations")
    page.select_option("#formalism", dice.choice(FORMALISMS))


def tab(page: Any, dice: random.Random) -> None:
    page.click(dice.choice(["#tab-equations", "#tab-graph", "#tab-loops"]))


def play(page: Any, dice: random.Random) -> None:
    page.click("#play")
    page.wait_for_timeout(dice.randrange(300, 1500))
    page.click("#play")


def another(page: Any, dice: random.Random) -> None:
    page.click("#library")
    page.locator(f"[data-entry={dice.choice(MECHANISMS)}]").click()
    page.wait_for_timeout(400)


def export(page: Any, dice: random.Random) -> None:
    page.evaluate(
        "([what, detail]) => studio.take(what, detail)", dice.choice([("text", ""), ("code", "c"), ("study", "")])
    )


ACTIONS = {edit: 10, fault: 4, type_over: 3, restructure: 3, slide: 10, handle: 5, level: 3, formalism: 2, tab: 3,
           play: 3, another: 2, export: 1}  # fmt: skip


def family(root: int) -> list[int]:
    """A process and all that it and those have started."""
    children: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as status:
            children.setdefault(int(status.read().rpartition(")")[2].split()[1]), []).append(int(entry))
    waiting, found = [root], []
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def renderer() -> int:
    """The browser's process that shows the page: the one that has worked most, others are kept ready and show none."""
    return max((one for one in family(os.getpid()) if b"--type=renderer" in command_of(one)), key=worked)


def worked(pid: int) -> int:
    """Ticks of processor time that a process has taken."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as status:
            return sum(map(int, status.read().rpartition(")")[2].split()[11:13]))
    except OSError:  # it has ended meanwhile
        return 0


def command_of(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            return words.read()
    except OSError:
        return b""


def own(pid: int) -> float:
    """Megabytes that one process has written and holds for itself alone.

    Pages of files are left out: whether they are shared depends on what else runs on the machine.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as shares:
            return sum(map(int, re.findall(r"^(?:Private_Dirty|Swap):\s+(\d+)", shares.read(), re.MULTILINE))) / 1024
    except OSError:  # it has ended meanwhile
        return 0.0


def go_back(page: Any) -> None:
    """To where the page began."""
    page.evaluate(BACK, FIRST)
    page.wait_for_timeout(1500)
    rest(page)


def sample(page: Any, server: int) -> dict[str, float]:
    """Memory at rest, where the page began."""
    go_back(page)
    page.click("#tab-equations")
    page.wait_for_timeout(1500)
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.collectGarbage")
    process = renderer()
    shown = own(process)  # before dumps and snapshots, which take memory themselves
    tools.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    held = blocks(page, process)
    objects, code, native, functions = heap(tools)
    tools.detach()
    return {
        "objects": objects,
        "code": code,
        "functions": functions,
        "native": native,
        "blocks": sum(held.values()),
        "browser": shown,
        "elements": page.evaluate("() => document.getElementsByTagName('*').length"),
        "nodes": metrics["Nodes"],
        "listeners": metrics["JSEventListeners"],
        "server": own(server),
        "workers": sum(map(own, family(server)[1:])),
        **held,
    }


def blocks(page: Any, process: int) -> dict[str, float]:
    """Megabytes of live blocks of the browser's process that shows the page, by its allocators' own accounts.

    Unlike its pages of memory these have no gaps: a single block that lives on keeps a page, or 128 kB of them.
    """
    tools = page.context.browser.new_browser_cdp_session()
    ended: list[dict[str, Any]] = []
    tools.on("Tracing.tracingComplete", lambda event: ended.append(event))
    chosen = {
        "includedCategories": ["disabled-by-default-memory-infra"],
        "excludedCategories": ["*"],
        "memoryDumpConfig": {"triggers": []},
    }
    tools.send("Tracing.start", {"traceConfig": chosen, "transferMode": "ReturnAsStream"})
    tools.send("Tracing.requestMemoryDump", {"levelOfDetail": "light"})
    tools.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    stream, text, part = {"handle": ended[0]["stream"]}, "", {"eof": False}
    while not part["eof"]:
        part = tools.send("IO.read", stream)
        text += base64.b64decode(part["data"]).decode() if part.get("base64Encoded") else part["data"]
    tools.send("IO.close", stream)
    tools.detach()
    (found,) = (
        event["args"]["dumps"]["allocators"]
        for event in json.loads(text)["traceEvents"]
        if event["ph"] in "vV" and event["pid"] == process and "allocators" in event["args"]["dumps"]
    )
    held = {name.partition("/")[0]: megabytes(found[name], size) for name, size in ALLOCATED.items()}
    held["malloc"] -= megabytes(found[AT_HAND], "size")
    return held


def megabytes(account: dict[str, Any], name: str) -> float:
    """An entry of an allocator's account."""
    return int(account["attrs"][name]["value"], 16) / 2**20


def heap(tools: Any) -> tuple[float, float, float, int]:
    """Megabytes of the page's heap: objects of the page, what the browser made of its functions, and the browser's own
    objects on its behalf (elements, styles, layout, steps of undo); and how many functions."""
    parts: list[str] = []
    tools.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    tools.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "exposeInternals": True})
    found = json.loads("".join(parts))
    meta, nodes = found["snapshot"]["meta"], found["nodes"]
    kinds, step = meta["node_types"][0], len(meta["node_fields"])
    sizes, numbers = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0)
    for kind, size in zip(nodes[meta["node_fields"].index("type") :: step],
                          nodes[meta["node_fields"].index("self_size") :: step], strict=True):  # fmt: skip
        sizes[kinds[kind]] += size
        numbers[kinds[kind]] += 1
    others = sum(size for kind, size in sizes.items() if kind not in ("code", "native"))
    return others / 2**20, sizes["code"] / 2**20, sizes["native"] / 2**20, numbers["closure"]


def fill(page: Any) -> None:
    """Fills the browser's cache of shaped texts, which holds up to 2048 short texts for each font."""
    go_back(page)
    for name in ("#tab-equations", "#tab-graph", "#tab-loops"):
        page.click(name)
        page.wait_for_timeout(500)
        page.evaluate(FILL)


def fill_records(page: Any) -> None:
    """Fills what the browser keeps a stated number of: numbers as texts, 8192 of each kind, its own record of long
    tasks, long frames and slow events, 200, 200 and 150, and what it keeps of files that a page hands over, some 500 to
    800 of them."""
    page.evaluate(NUMBERS)
    page.evaluate(FILES)
    page.evaluate(SLOW)
    for _ in range(160):
        page.keyboard.press("Shift")
    page.evaluate("() => { removeEventListener('keydown', window.slowly); delete window.slowly; }")


def show_all(page: Any) -> None:
    """Shows every mechanism at every level, in every formalism and tab."""
    for name in MECHANISMS:
        page.evaluate("(use) => studio.open(use)", f"library:{name}")
        page.wait_for_timeout(1000)
        for panel in ("#tab-graph", "#tab-loops", "#tab-equations"):
            rest(page)
            page.click(panel)
            page.wait_for_timeout(400)
        for depth in LEVELS:
            page.select_option("#level", depth)
            for method in FORMALISMS:
                page.select_option("#formalism", method)
                page.wait_for_timeout(200)
                rest(page)


def act(page: Any, dice: random.Random, seconds: float) -> int:
    """Acts at random for so long; how often."""
    names, weights = zip(*ACTIONS.items(), strict=True)
    end, done = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        dice.choices(names, weights)[0](page, dice)
        done += 1
        page.wait_for_timeout(120)
        if dice.random() < 0.4:
            rest(page)
    return done


@contextmanager
def haste(page: Any, factor: float) -> Iterator[None]:
    """Pauses between actions are shorter by a factor meanwhile."""
    slow = page.wait_for_timeout
    page.wait_for_timeout = lambda milliseconds: slow(milliseconds / factor)
    yield
    page.wait_for_timeout = slow


def prepare(page: Any, script: Script, minutes: float) -> None:
    """Shows all there is and acts in haste for so long, before anything is measured."""
    start, done = time.monotonic(), 0
    show_all(page)
    fill_records(page)
    with haste(page, HASTE):
        while time.monotonic() - start < 60 * minutes:
            done += act(page, next(script), 60)
            go_back(page)
    print(f"before: {done} actions in {minutes:g} minutes", flush=True)


def use(page: Any, server: int, minutes: float, script: Script, factor: float) -> list[dict[str, float]]:
    """Acts for so long; a sample per minute."""
    rows, start, done = [], time.monotonic(), 0
    while (time.monotonic() - start) < 60 * minutes:
        with haste(page, factor):
            done += act(page, next(script), 60)
        row = {"minute": (time.monotonic() - start) / 60, "actions": done, **sample(page, server)}
        rows.append(row)
        print("  ".join(f"{name} {value:.3f}" for name, value in row.items()), flush=True)
    return rows


def script_of(seed: int, repeat: int) -> Script:
    """Dice for every minute; after so many minutes they fall as at first, with 0 never."""
    for minute in count():
        yield random.Random(f"{seed} {minute % repeat if repeat else minute}")


def slope(hours: list[float], values: list[float]) -> tuple[float, float]:
    """Growth per hour and half its 95 % interval; neighbours that are alike count as fewer samples."""
    if max(values) == min(values):
        return 0.0, 0.0
    found = linregress(hours, values)
    left = [value - found.intercept - found.slope * hour for hour, value in zip(hours, values, strict=True)]
    power = sum(one * one for one in left)
    alike = max(0.0, sum(a * b for a, b in pairwise(left)) / power)
    widened = math.sqrt((1 + alike) / (1 - alike))
    return found.slope, float(student.ppf(0.975, len(values) - 2) * found.stderr * widened)


def verdict(rows: list[dict[str, float]]) -> bool:
    """Prints the growth per hour over the second half as a table; whether nothing grows."""
    half, quarter = rows[len(rows) // 2 :], max(1, len(rows) // 4)
    print("| | first minute | second half, least to most | growth per hour, 95 % interval | |")
    print("| --- | --- | --- | --- | --- |")
    grows = False
    for name, unit in QUANTITIES.items():
        if name not in rows[0]:  # a run that did not measure it
            continue
        values = [row[name] for row in half]
        found, spread = slope([row["minute"] / 60 for row in half], values)
        growing = found > spread and found > NEGLIGIBLE * statistics.fmean(values)
        if name in BOUNDED:
            growing &= max(values[-quarter:]) > max(values[:-quarter], default=math.inf)
        grows |= growing
        print(
            f"| {name} | {rows[0][name]:.2f} {unit} | {min(values):.2f} to {max(values):.2f} {unit} "
            f"| {found:+.3f} ± {spread:.3f} | {'GROWS' if growing else 'does not grow'} |"
        )
    return not grows


def judged(log: str) -> bool:
    """The verdict on the printed lines of a run."""
    with open(log, encoding="utf-8") as lines:
        cells = [line.split() for line in lines if line.startswith("minute")]
    return verdict([dict(zip(row[::2], map(float, row[1::2]), strict=True)) for row in cells])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--before", type=float, default=15.0, help="minutes in haste before the hour")
    parser.add_argument("--haste", type=float, default=1.0, help="so many times as fast, for a first look")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=0, metavar="N", help="the same actions after every N minutes")
    parser.add_argument("--filled", action="store_true", help="the browser's cache of shaped texts is full before")
    parser.add_argument("--uncompiled", action="store_true", help="no machine code of the page's functions")
    parser.add_argument("--judge", metavar="LOG")
    asked = parser.parse_args()
    if asked.judge:
        sys.exit(0 if judged(asked.judge) else 1)
    path = os.environ.get("TORSEUR_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        command = [sys.executable, "-c", PROGRAM, "studio", "library:double_pendulum", "--no-browser"]
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TORSEUR_STATE": folder}
        )
        try:
            assert server.stdout is not None
            address = re.findall(r"http\S+", server.stdout.readline())[0]
            browser = driver.chromium.launch(executable_path=path, args=[*SWITCHES, *[UNCOMPILED] * asked.uncompiled])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            problems: list[str] = []
            page.on("pageerror", lambda problem: problems.append(str(problem)))
            page.goto(address)
            page.wait_for_timeout(5000)
            script = script_of(asked.seed, asked.repeat)
            prepare(page, script, asked.before)
            if asked.filled:
                fill(page)
            rows = use(page, server.pid, asked.minutes, script, asked.haste)
            print(f"{rows[-1]['actions']} actions, {len(problems)} errors in the page: {problems[:3]}")
            page.reload()
            page.wait_for_timeout(5000)
            print("read again:", "  ".join(f"{name} {value:.3f}" for name, value in sample(page, server.pid).items()))
            fine = verdict(rows) and not problems
        finally:
            server.terminate()
            server.wait(10)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
