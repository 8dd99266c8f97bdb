"""The studio under what nobody wishes it: hostile texts and names, workers, servers and disks that fail, a second page."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from browsing import frames, wait_until
from presentation.studio.test_browser import keep_picture, ready, rewrite, words, write_over

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROGRAM = "import sys; from torseur.cli import main; sys.argv[0] = 'torseur'; main()"


HOSTILE = """mechanism a "<img src=x onerror=window.hacked=1>" ;
let b = body mass = 1 kg, centre = [0, 0, -1] m end "</script><script>window.hacked=1</script>" ;
param `k"><script>window.hacked=1</script>` = 2 "<svg onload=window.hacked=1>" ;
gravity = [0, 0, -9.81] m/s^2 ;
join earth and b.frame as `<b>j</b>` with revolute(q "<iframe src=javascript:alert(1)>") about [0, 1, 0] end ;
"""


def test_a_hostile_text_stays_text(visit):
    page = ready(visit())
    write_over(page, HOSTILE)
    wait_until(page, "studio.state.text.startsWith('mechanism a') && !studio.desk.busy.has('describe')")
    frames(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#panel-equations script, #parameters script, #panel-graph img, #title img").count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "(" * 60_000,
        "x" * 300_000,
        "mechanism " + "a " * 50_000,
        "\x00\ud83d",
        "param a = 1e999999 m ;",
        "param a = " + "9" * 9999 + " ;",
    ],
)
def test_a_monstrous_text_is_survived(visit, text):
    page = ready(visit())
    page.evaluate("(text) => { studio.editor.replace(text); studio.editText(text); }", text)
    wait_until(page, "document.getElementById('faults').innerText !== '' || !document.getElementById('notice').hidden")
    page.evaluate(
        "() => { const text = 'mechanism m ; gravity = [0, 0, -9.81] m/s^2 ; let b = body mass = 1 kg, centre = [0, 0, -1] m, inertia = 0 end ; join earth and b.frame as j with revolute(q) about [0, 1, 0] end ;'; studio.editor.replace(text); studio.editText(text); }"
    )
    ready(page)
    assert words(page, "#title") == "m"


def test_killed_workers_are_replaced(visit):
    page = ready(visit())
    for worker in multiprocessing.active_children():
        worker.kill()
        worker.join()
    rewrite(page, "m1 = 4 kg", "m1 = 6 kg")
    ready(page)
    page.focus("#slider-m2")
    page.keyboard.press("ArrowRight")
    wait_until(page, "'m2' in studio.state.values")
    ready(page)


PROTOTYPES = """mechanism prototype ;
param __proto__ = 2 kg "mass", constructor = 1 m "length", toString = 9.81 m/s^2 "gravity" ;
gravity = [0, 0, -toString] ;
let hasOwnProperty = body mass = __proto__, centre = [0, 0, -constructor], inertia = 0 end ;
join earth and hasOwnProperty.frame as valueOf with revolute(__defineGetter__) about [0, 1, 0] end ;
init __defineGetter__ = 0.5 ;
"""


def test_names_that_mean_something_to_scripts_are_names(visit):
    page = ready(visit())
    write_over(page, PROTOTYPES)
    wait_until(page, "studio.state.text.startsWith('mechanism prototype')")
    ready(page)
    for name, value in (("__proto__", 2), ("constructor", 1), ("toString", 9.81)):
        assert float(page.locator(f"[data-name={name}] input[type=number]").input_value()) == value
        page.locator(f"[data-name={name}] input[type=number]").fill("3")
        wait_until(page, f"Object.hasOwn(studio.state.values, '{name}')")
    ready(page)
    assert page.evaluate("Object.entries(studio.state.values)") == [
        ["__proto__", 3],
        ["constructor", 3],
        ["toString", 3],
    ]
    page.locator("[data-handle=__defineGetter__]").focus()
    page.keyboard.press("ArrowRight")
    wait_until(page, "studio.state.initial.__defineGetter__ > 0.5")
    ready(page)
    page.locator(".write.of-values").click()
    wait_until(page, "studio.state.text.includes('__proto__ = 3 kg')")
    assert page.evaluate("({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


def test_long_names_do_not_break_the_page(visit):
    name = "l" * 100
    page = ready(visit())
    rewrite(page, "mechanism double_pendulum", f"mechanism {name}")
    page.evaluate(
        "(name) => { const text = studio.state.text.replaceAll('blade', name).replaceAll('l2', name + 'x'); studio.editor.replace(text); studio.editText(text); }",
        name[:98],
    )
    ready(page)
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    keep_picture(page, "long_names")


def test_a_second_page_takes_over_and_the_first_stops(visit):
    first = ready(visit())
    with first.expect_popup() as opened:
        first.evaluate("() => { window.open(location.href); }")
    second = ready(opened.value)
    wait_until(first, "!document.getElementById('notice').hidden")
    assert "another page" in words(first, "#notice")
    assert first.evaluate("document.querySelector('.bench').inert")
    rewrite(second, "m1 = 4 kg", "m1 = 8 kg")
    ready(second)
    first.get_by_role("button", name="Use this one").click()
    ready(first)
    assert "m1 = 8 kg" in first.evaluate("studio.editor.text")
    wait_until(second, "document.querySelector('.bench').inert")
    second.close()


@pytest.fixture
def serve(tmp_path: Path):
    """Starts the command in a process of its own; gives the process and its address."""
    started = []

    def start(port: int = 0) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-c", PROGRAM, "studio", "library:double_pendulum", "--no-browser", f"--port={port}"]
        environment = {**os.environ, "TORSEUR_STATE": str(tmp_path / "state")}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
        started.append(process)
        return process, re.findall(r"http\S+", process.stdout.readline())[0]

    yield start
    for process in started:
        process.terminate()
        process.wait(10)


def test_a_killed_server_is_found_again(browser, serve: Callable[..., tuple[subprocess.Popen[str], str]]):
    """What was typed while it was away is there afterwards, in the page and on the disk.

    It comes back to the port it had, one that other studios do not try meanwhile.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process, address = serve(port)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    ready(page)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
    wait_until(page, "document.getElementById('status').textContent.includes('no connection')")
    rewrite(page, "m1 = 4 kg", "m1 = 9 kg")
    _, again = serve()
    assert again == address
    ready(page)
    wait_until(page, "studio.good?.includes('m1 = 9 kg') && !studio.keeping")
    page.reload()
    ready(page)
    assert "m1 = 9 kg" in page.evaluate("studio.editor.text")
    page.close()


def test_a_full_disk_is_told_and_what_is_typed_survives(visit, monkeypatch, tmp_path):
    from torseur.presentation.studio import session

    page = ready(visit())
    write = session._write

    def full(file: Path, text: str, private: bool = False) -> None:
        raise session.SessionError(f"'{file}' cannot be written: No space left on device.")

    monkeypatch.setattr(session, "_write", full)
    rewrite(page, "m1 = 4 kg", "m1 = 5 kg")
    wait_until(page, "document.getElementById('notice').innerText.includes('No space left')")
    rewrite(page, "m2 = 2 kg", "m2 = 3 kg")
    wait_until(page, "studio.good.includes('m2 = 3 kg') && !studio.desk.isBusy")
    monkeypatch.setattr(session, "_write", write)
    wait_until(page, "document.getElementById('notice').hidden && !studio.keeping")
    kept = json.loads(next((tmp_path / "state").glob("*.json")).read_text(encoding="utf-8"))
    assert "m1 = 5 kg" in kept["text"] and "m2 = 3 kg" in kept["text"]
