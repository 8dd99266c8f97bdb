"""Firefox, driven by the WebDriver BiDi protocol that it speaks itself.

Without a screen it has no WebGL: where there is an Xvfb it gets a screen of its own, elsewhere the page falls back to its
flat picture.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

CANDIDATES = ("firefox-esr", "firefox")
START_SECONDS = 40.0
KEYS = {
    "Enter": "\ue006", "Tab": "\ue004", "Escape": "\ue00c", "Control": "\ue009", "Shift": "\ue008",
    "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Backspace": "\ue003",
}  # fmt: skip
PREFERENCES = {
    "webgl.force-enabled": True,  # software graphics
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.download.always_ask_before_handling_new_types": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.startup.page": 0,
    "focusmanager.testmode": True,  # a screen without a window manager gives no window the focus
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}


def executable() -> str:
    """The Firefox to drive; the test is skipped where there is none."""
    pytest.importorskip("websockets.sync.client", reason="websockets is not installed: pip install torseur[studio]")
    found = os.environ.get("TORSEUR_FIREFOX") or next(filter(None, map(shutil.which, CANDIDATES)), None)
    if found is None:
        pytest.skip("no Firefox found: install Debian's package firefox-esr or set TORSEUR_FIREFOX")
    return found


class Firefox:
    """A browser process, one page in it, and the line to it."""

    def __init__(self, path: str, folder: Path) -> None:
        self.downloads = folder / "downloads"
        profile = folder / "profile"
        for one in (self.downloads, profile):
            one.mkdir()
        given = {**PREFERENCES, "browser.download.dir": str(self.downloads)}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in given.items()]
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        self.resources = ExitStack()
        self.complaints: list[str] = []
        self.number = 0
        self.screen, display = _screen()
        with open(folder / "log", "w", encoding="utf-8") as log:
            command = [path, "--no-remote", "--profile", str(profile), "--remote-debugging-port=0"]
            command += [] if display else ["--headless"]
            environment = {**os.environ, "HOME": str(folder), "LIBGL_ALWAYS_SOFTWARE": "1"} | display
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self.line = self._connected(folder / "log")
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        self.context = self.send("browsingContext.create", type="tab")["context"]  # a new one has the focus
        self.send("browsingContext.activate", context=self.context)

    def _connected(self, log: Path) -> Any:
        from websockets.sync.client import connect

        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r"BiDi listening on (ws://\S+)", log.read_text(encoding="utf-8", errors="replace"))
            if found:
                return self.resources.enter_context(connect(f"{found[1]}/session", max_size=None, proxy=None))
            time.sleep(0.1)
        self._end()
        said = log.read_text(encoding="utf-8", errors="replace")[-500:]
        pytest.skip(f"Firefox does not offer WebDriver BiDi within {START_SECONDS:g} s: {said}")

    def send(self, method: str, **parameters: Any) -> Any:
        """One command and its answer; what the page complains about meanwhile is kept."""
        self.number += 1
        self.line.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            heard = json.loads(self.line.recv(timeout=60))
            if heard.get("method") == "log.entryAdded" and heard["params"]["level"] == "error":
                self.complaints.append(heard["params"]["text"])
            if heard.get("id") == self.number:
                assert heard["type"] == "success", f"{method}: {heard.get('error')}: {heard.get('message')}"
                return heard["result"]

    def close(self) -> None:
        """Ends the browser."""
        try:
            self.send("browser.close")
            self.process.wait(10)
        except (OSError, AssertionError, EOFError, subprocess.TimeoutExpired):
            pass
        finally:
            self.resources.close()
            self._end()

    def _end(self) -> None:
        for one in (self.process, self.screen):
            if one is not None:
                one.kill()
                one.wait(10)


def _screen() -> tuple[subprocess.Popen[bytes] | None, dict[str, str]]:
    """A screen that nobody sees, and what tells a program of it; nothing where there is no Xvfb."""
    path = shutil.which("Xvfb")
    if path is None:
        return None, {}
    reading, writing = os.pipe()
    command = [path, "-displayfd", str(writing), "-screen", "0", "2560x1600x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=(writing,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    with open(reading, encoding="ascii") as number:
        display = number.readline().strip()
    return process, {"DISPLAY": f":{display}", "MOZ_ENABLE_WAYLAND": "0"}


class FirefoxPage:
    """What a user does in the page, in the words of the other driver where they are the same."""

    def __init__(self, firefox: Firefox) -> None:
        self.firefox = firefox

    def _send(self, method: str, **parameters: Any) -> Any:
        return self.firefox.send(method, context=self.firefox.context, **parameters)

    def set_viewport_size(self, size: dict[str, int]) -> None:
        self._send("browsingContext.setViewport", viewport=size)

    def goto(self, address: str) -> None:
        self._send("browsingContext.navigate", url=address, wait="complete")

    def reload(self) -> None:
        self._send("browsingContext.reload", wait="complete")

    def evaluate(self, expression: str, given: Any = None) -> Any:
        """The value of an expression, or of a function of what is given."""
        code = f"(async () => {{ const it = {expression}; const value = await (typeof it === 'function' ? it({json.dumps(given)}) : it); return JSON.stringify(value ?? null); }})()"
        target = {"context": self.firefox.context}
        found = self.firefox.send("script.evaluate", expression=code, target=target, awaitPromise=True)
        assert found["type"] == "success", found.get("exceptionDetails", {}).get("text")
        return json.loads(found["result"]["value"])

    def wait_for_timeout(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._send("browsingContext.captureScreenshot")["data"]))

    def press(self, chord: str) -> None:
        """A key, with others held down: "Control+z"."""
        keys = [KEYS.get(key, key) for key in chord.split("+")]
        down = [{"type": "keyDown", "value": key} for key in keys]
        self._keys([*down, *({"type": "keyUp", "value": key} for key in reversed(keys))])

    def type(self, text: str) -> None:
        self._keys([{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")])

    def _keys(self, actions: Sequence[dict[str, str]]) -> None:
        self._send("input.performActions", actions=[{"type": "key", "id": "keyboard", "actions": list(actions)}])

    def centre(self, selector: str) -> tuple[float, float]:
        """The middle of an element, brought into view."""
        x, y = self.evaluate(
            "(selector) => { const one = document.querySelector(selector); one.scrollIntoView({ block: 'nearest' });"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }",
            selector,
        )
        return x, y

    def hover(self, selector: str) -> None:
        self._pointer([self.centre(selector)], pressed=False)

    def click(self, selector: str) -> None:
        self._pointer([self.centre(selector)])

    def drag(self, places: Sequence[tuple[float, float]]) -> None:
        """Press at the first place, let go at the last."""
        self._pointer(places)

    def _pointer(self, places: Sequence[tuple[float, float]], pressed: bool = True) -> None:
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 30} for x, y in places]
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        actions = [moves[0], down, *moves[1:], up] if pressed else moves
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self._send("input.performActions", actions=[pointer])

    def select_option(self, selector: str, value: str) -> None:
        """An option of a list, as the keyboard would choose it."""
        self.evaluate(
            "([selector, value]) => { const one = document.querySelector(selector); one.focus(); one.value = value;"
            " one.dispatchEvent(new Event('input', { bubbles: true })); one.dispatchEvent(new Event('change', { bubbles: true })); }",
            [selector, value],
        )


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """One Firefox for all tests."""
    started = Firefox(executable(), tmp_path_factory.mktemp("firefox"))
    yield started
    started.close()


Visit = Callable[..., FirefoxPage]
