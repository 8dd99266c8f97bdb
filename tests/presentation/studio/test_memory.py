"""What the browser keeps of its own for the page: repeated use leaves nothing behind (an hour: benchmarks/soak_studio.py)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from browsing import frames, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TIMES = 30
# Entries of the browser's own record of its speed, of which it keeps at most 150 each, styles in its cache, which it
# sweeps from time to time, and what belongs to compiled code.
BOUNDED = (
    "blink::ComputedStyle",
    "LayoutShift",
    "ContentfulPaint",
    "PerformanceEventTiming",
    "PerformanceLongAnimationFrameTiming",  # two hundred at most, on a machine that is busy
    "DOMRectReadOnly",
    "system / ",
)
TABLE_ANEW = (
    "async () => { studio.table.innerHTML = studio.table.innerHTML; await new Promise(requestAnimationFrame); }"
)


def natives(page: Any) -> Counter[str]:
    """How many objects of each kind the browser itself holds."""
    tools, parts = page.context.new_cdp_session(page), []
    tools.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    tools.send("HeapProfiler.collectGarbage")
    tools.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "exposeInternals": True})
    tools.detach()
    found = json.loads("".join(parts))
    meta, nodes, names = found["snapshot"]["meta"], found["nodes"], found["strings"]
    step, kinds = len(meta["node_fields"]), meta["node_types"][0]
    pairs = zip(nodes[meta["node_fields"].index("type") :: step], nodes[meta["node_fields"].index("name") :: step],
                strict=True)  # fmt: skip
    return Counter(names[name] for kind, name in pairs if kinds[kind] == "native")


def growing(page: Any, act: Any) -> list[str]:
    """Kinds of which there is one more after each time, or nearly."""
    for _ in range(5):
        act()  # before, so that what is made at first use is there
    before = natives(page)
    for _ in range(TIMES):
        act()
    left: list[str] = []
    for _ in range(10):  # the browser lets go of layouts when it is idle
        frames(page)
        more = natives(page) - before
        left = [n for n, count in more.items() if count >= 0.9 * TIMES and not any(one in n for one in BOUNDED)]
        if not left:
            break
    return left


def test_tables_that_are_made_anew_leave_nothing(visit):
    page = visit()
    wait_until(page, "studio.table?.querySelector('thead')")
    assert growing(page, lambda: page.evaluate(TABLE_ANEW)) == []


def test_typing_leaves_nothing_once_the_text_is_left(visit):
    page = visit()
    wait_until(page, "studio.table?.querySelector('thead')")

    def type_and_leave() -> None:
        page.focus("#text")
        page.keyboard.press("Control+Home")
        page.keyboard.type("ab")
        page.keyboard.press("Control+z")
        page.focus("#level")

    assert growing(page, type_and_leave) == []


# How much larger the letters of drawings and plots stand on the screen than their style says.
SCALES = """() => [...new Set([...document.querySelectorAll("svg text")]
    .filter((text) => text.getBoundingClientRect().width).map((text) => text.getScreenCTM().a))]"""


@pytest.mark.parametrize("mechanism", ["pendulum_chain", "four_bar"])
def test_letters_of_drawings_come_in_few_sizes(visit, mechanism):
    """The browser keeps what it makes of a font for every size, to a ten-thousandth of a pixel."""
    page = visit(f"library:{mechanism}")
    wait_until(page, "studio.table?.querySelector('thead')")
    for width in (1440, 1333, 1101):
        page.set_viewport_size({"width": width, "height": 900})
        for tab in ("#tab-graph", "#tab-loops"):
            page.click(tab)
            wait_until(page, "!studio.desk.isBusy")
            frames(page)  # sizes are observed after the layout
            scales = page.evaluate(SCALES)
            assert scales
            assert all(16 * scale == round(16 * scale) for scale in scales), (width, tab, scales)
