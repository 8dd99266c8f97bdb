"""An hour of scripted use of the studio in headless Chromium, and what memory does meanwhile.

    python benchmarks/soak_studio.py [--minutes 60]

Edits of numbers and of structure, faults, sliders, handles, formalisms and levels, tabs, other mechanisms, playing and
exports, at random, on one page that is never reloaded. Once a minute the page goes back to where it began, and memory
is measured at rest: the page's heap and nodes after collecting garbage, and what the server and its workers hold.

Growth is the slope of a straight line through the second half of the samples, the first half being left to caches that
fill. Something grows when the 95 % interval of its slope lies above zero and an hour of it would add more than a
hundredth of what is there. `python benchmarks/soak_studio.py --judge LOG` judges the lines of an earlier run.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from playwright.sync_api import sync_playwright
from scipy.stats import linregress
from scipy.stats import t as student

from torseur.library import source_of

PROGRAM = "import sys; from torseur.cli import main; sys.argv[0] = 'torseur'; main()"
SWITCHES = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-unsafe-swiftshader"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST = source_of("double_pendulum")
MECHANISMS = ("double_pendulum", "four_bar", "slider_crank", "pendulum_chain", "spinning_top", "mass_spring_damper")
REST = "() => studio.shown.text === studio.good && !studio.desk.isBusy && !studio.keeping"
SET_TEXT = "(text) => { studio.editor.replace(text); studio.edited(text); }"
BACK = """(text) => {
  document.getElementById("tab-loops").click();
  studio.change({ values: {}, initial: {}, level: "scalar", formalism: "recursive", criterion: "" });
  studio.editor.replace(text);
  studio.edited(text);
}"""
QUANTITIES = {"heap": "MB", "elements": "", "nodes": "", "listeners": "", "server": "MB", "workers": "MB"}
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
    sliders = page.locator("#parameters input[type=range]")
    if sliders.count():
        sliders.nth(dice.randrange(sliders.count())).focus()
        for _ in range(dice.randrange(3, 25)):
            page.keyboard.press(dice.choice(["ArrowLeft", "ArrowRight"]))
            page.wait_for_timeout(25)


def handle(page: Any, dice: random.Random) -> None:
    rings = page.locator(".handle")
    if rings.count():
        rings.nth(dice.randrange(rings.count())).focus()
        for _ in range(dice.randrange(2, 10)):
            page.keyboard.press(dice.choice(["ArrowLeft", "ArrowRight"]))
            page.wait_for_timeout(40)


def level(page: Any, dice: random.Random) -> None:
    page.click("#tab-equations")
    page.select_option("#level", dice.choice(["scalar", "matrix", "recursive", "intrinsic"]))


def formalism(page: Any, dice: random.Random) -> None:
    page.click("#tab-equations")
    page.select_option("#formalism", dice.choice(["recursive", "lagrange", "kane", "newton_euler"]))


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


def resident(roots: list[int]) -> float:
    """Megabytes that processes and all they have started hold for themselves alone.

    Shared memory is left out: how it is divided depends on what else runs on the machine.
    """
    children: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as status:
            children.setdefault(int(status.read().rpartition(")")[2].split()[1]), []).append(int(entry))
    waiting, total = list(roots), 0.0
    while waiting:
        one = waiting.pop()
        waiting += children.get(one, [])
        with contextlib.suppress(OSError):
            total += own(one)
    return total


def own(pid: int) -> float:
    """Megabytes that one process holds for itself alone."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as shares:
        return sum(map(int, re.findall(r"^Private_\w+:\s+(\d+)", shares.read(), re.MULTILINE))) / 1024


def sample(page: Any, server: int) -> dict[str, float]:
    """Memory at rest, where the page began."""
    page.evaluate(BACK, FIRST)
    page.wait_for_timeout(1500)
    rest(page)
    page.click("#tab-equations")
    page.wait_for_timeout(1500)
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.collectGarbage")
    metrics = {
        m["name"]: m["value"]
        for m in (tools.send("Performance.enable"), tools.send("Performance.getMetrics"))[1]["metrics"]
    }
    tools.detach()
    whole = resident([server])
    return {
        "heap": metrics["JSHeapUsedSize"] / 2**20,
        "elements": page.evaluate("() => document.getElementsByTagName('*').length"),
        "nodes": metrics["Nodes"],
        "listeners": metrics["JSEventListeners"],
        "server": own(server),
        "workers": whole - own(server),
    }


def use(page: Any, server: int, minutes: float, dice: random.Random) -> list[dict[str, float]]:
    """Acts at random for so long; a sample per minute."""
    names, weights = zip(*ACTIONS.items(), strict=True)
    rows, start, done = [], time.monotonic(), 0
    while (time.monotonic() - start) < 60 * minutes:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            dice.choices(names, weights)[0](page, dice)
            done += 1
            page.wait_for_timeout(120)
            if dice.random() < 0.4:
                rest(page)
        row = {"minute": (time.monotonic() - start) / 60, "actions": done, **sample(page, server)}
        rows.append(row)
        print("  ".join(f"{name} {value:.2f}" for name, value in row.items()), flush=True)
    return rows


def verdict(rows: list[dict[str, float]]) -> bool:
    """Prints the growth per hour over the second half as a table; whether nothing grows."""
    half = rows[len(rows) // 2 :]
    hours = [row["minute"] / 60 for row in half]
    print("| | first minute | second half, least to most | growth per hour, 95 % interval | |")
    print("| --- | --- | --- | --- | --- |")
    grows = False
    for name, unit in QUANTITIES.items():
        values = [row[name] for row in half]
        found = linregress(hours, values)
        spread = float(student.ppf(0.975, len(half) - 2) * found.stderr)
        growing = found.slope - spread > 0 and found.slope > NEGLIGIBLE * statistics.fmean(values)
        grows |= growing
        print(
            f"| {name} | {rows[0][name]:.1f} {unit} | {min(values):.1f} to {max(values):.1f} {unit} "
            f"| {found.slope:+.2f} ± {spread:.2f} | {'GROWS' if growing else 'does not grow'} |"
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
    parser.add_argument("--seed", type=int, default=1)
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
            browser = driver.chromium.launch(executable_path=path, args=SWITCHES)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            problems: list[str] = []
            page.on("pageerror", lambda problem: problems.append(str(problem)))
            page.goto(address)
            page.wait_for_timeout(5000)
            rows = use(page, server.pid, asked.minutes, random.Random(asked.seed))
            print(f"{rows[-1]['actions']} actions, {len(problems)} errors in the page: {problems[:3]}")
            fine = verdict(rows) and not problems
        finally:
            server.terminate()
            server.wait(10)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
