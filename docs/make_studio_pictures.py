"""Makes the pictures of the studio in a headless Chromium: python docs/make_studio_pictures.py"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).resolve().parent / "pictures"
SWITCHES = ("--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--hide-scrollbars")
PROGRAM = "import sys; from torseur.cli import main; sys.argv[0] = 'torseur'; main()"
READY = "() => window.studio && studio.shown.text !== null && !studio.desk.isBusy"


@contextmanager
def studio(entry: str) -> Iterator[str]:
    """A studio on a mechanism of the library; gives its address."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", PROGRAM, "studio", entry, "--no-browser"]
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TORSEUR_STATE": folder}
        )
        assert server.stdout is not None
        try:
            yield re.findall(r"http\S+", server.stdout.readline())[0]
        finally:
            server.terminate()
            server.wait(10)


def pendulum(page: Any) -> None:
    """A term is pointed at, and lights up with its body."""
    page.evaluate("() => studio.store.set({ time: 2.6 })")
    page.locator(".term").nth(3).hover()


def four_bar(page: Any) -> None:
    """A handle has been moved, and the loop doctor speaks."""
    page.click("#tab-loops")
    ring = page.locator(".handle").first
    ring.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)
    page.wait_for_timeout(1500)


def quadruped(page: Any) -> None:
    """Dark, landing, a slider moved."""
    page.click("#theme")
    page.focus("#slider-stance")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(6000)
    page.evaluate("() => studio.store.set({ time: 0.06 })")


def wrong_text(page: Any) -> None:
    """A joint names a body that is not there."""
    page.evaluate("""() => {
      const { text, view } = studio.editor, at = text.indexOf("blade.frame");
      view.focus();
      view.dispatch({ selection: { anchor: at, head: at + "blade.frame".length } });
    }""")
    page.keyboard.type("blde.frame")
    page.wait_for_timeout(800)


def levels(page: Any) -> None:
    """The deployed antenna; balances of vectors below."""
    page.select_option("#level", "intrinsic")
    page.wait_for_timeout(2500)
    page.evaluate("() => studio.store.set({ time: 4 })")


def slopes(page: Any) -> None:
    """A spring has been made stiffer; what the reflector's angle depends on, and the recursion by Kane."""
    page.select_option("#formalism", "kane")
    page.select_option("#level", "recursive")
    page.fill("#criterion", "beta")
    page.press("#criterion", "Enter")
    page.focus("#slider-k3")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
    page.wait_for_timeout(3000)
    page.evaluate("() => studio.store.set({ time: 4 })")
    page.locator(".slopes").evaluate("(part) => part.closest('details').scrollIntoView()")


def doctor(page: Any) -> None:
    """What the loop doctor says, with more room for it."""
    page.focus("[data-splits='--picture']")
    for _ in range(6):
        page.keyboard.press("ArrowUp")
    page.click("#tab-loops")
    page.wait_for_timeout(5000)
    page.locator("#panel-loops h3").last.evaluate("(title) => title.scrollIntoView({ block: 'center' })")


SHOWN = {
    "studio_double_pendulum": ("library:double_pendulum", pendulum),
    "studio_four_bar": ("library:four_bar", four_bar),
    "studio_quadruped": ("library:quadruped", quadruped),
    "studio_wrong_text": ("library:double_pendulum", wrong_text),
    "studio_satellite_sample": ("library:satellite", lambda page: page.wait_for_timeout(1500)),
    "studio_satellite_levels": ("library:antenna_satellite", levels),
    "studio_satellite_slopes": ("library:antenna_satellite", slopes),
    "studio_flat_parallelogram": ("library:flat_parallelogram", doctor),
    "studio_antenna_mesh": ("library:antenna_mesh", doctor),
}


def main(names: list[str]) -> None:
    """All pictures, or those named."""
    path = os.environ.get("TORSEUR_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        for name in names or SHOWN:
            entry, act = SHOWN[name]
            with studio(entry) as address:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(address)
                while not page.evaluate(READY):
                    page.wait_for_timeout(100)
                act(page)
                page.wait_for_timeout(1200)
                target = PICTURES / f"{name}.png"
                page.screenshot(path=target)
                page.close()
            print(f"{target.name}: {target.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
