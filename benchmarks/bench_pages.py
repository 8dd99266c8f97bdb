"""How smoothly reports play without a graphics card: frames a second while a motion is shown, in headless Chromium.

    python benchmarks/bench_pages.py [NAME ...]

A NAME is one of the library. The best of three windows of 1.2 s counts, so that other programs disturb less. Two shared
cores gave 48 frames a second for the pendulum, 15 to 22 for large robots. Not proven: a real graphics card.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from bench_studio import CHROMIUM, SWITCHES, WINDOW

import torseur as ts
from torseur.description import library

NAMES = ("double_pendulum", "car")
FRAMES_PER_SECOND = """async () => {
  const button = document.getElementById("play");
  button.click();
  const rates = [];
  for (let window = 0; window < 3; window++) {
    let frames = 0;
    const start = performance.now();
    await new Promise((done) => {
      const count = (now) => {
        frames += 1;
        if (now - start < 1200) requestAnimationFrame(count);
        else done();
      };
      requestAnimationFrame(count);
    });
    rates.push(frames / ((performance.now() - start) / 1000));
  }
  button.click();
  return Math.max(...rates);
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path_of_browser = os.environ.get("TORSEUR_BROWSER") or next(filter(None, map(shutil.which, CHROMIUM)))
        browser = driver.chromium.launch(executable_path=path_of_browser, args=SWITCHES)
        print("| page | frames a second |\n| --- | ---: |")
        for name in sys.argv[1:] or NAMES:
            path = Path(folder, f"{name}.html")
            ts.write_report(library.load(name), path)
            page = browser.new_page(viewport=WINDOW)
            page.goto(path.as_uri())
            print(f"| {name} | {page.evaluate(FRAMES_PER_SECOND):.0f} |")
            page.close()


if __name__ == "__main__":
    main()
