"""The page for those who use it with other means: axe-core finds nothing serious, wherever one goes in it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from browsing import wait_until
from presentation.studio.test_browser import ready, rewrite

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AUDIT = """axe.run(document, { resultTypes: ["violations"] }).then((found) => JSON.stringify(found.violations.map((one) =>
  ({ id: one.id, impact: one.impact, help: one.help, where: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)) }))))"""


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: pip install torseur[test]")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def findings(page: Any, axe: str) -> list[dict[str, Any]]:
    """What axe-core finds; it comes in through the browser's own tools, because the page lets nothing foreign run."""
    tools = page.context.new_cdp_session(page)
    tools.send("Runtime.evaluate", {"expression": f"{axe}; true"})
    found = tools.send("Runtime.evaluate", {"expression": AUDIT, "awaitPromise": True, "returnByValue": True})
    tools.detach()
    return json.loads(found["result"]["value"])


def test_nothing_serious_anywhere(visit, axe):
    page = ready(visit("library:four_bar"))
    assert findings(page, axe) == []
    page.click("#tab-graph")
    assert findings(page, axe) == []
    page.click("#tab-loops")
    wait_until(page, "document.getElementById('panel-loops').innerText.includes('mobility')")
    assert findings(page, axe) == []
    page.click("#start-part summary")
    page.click("#tab-equations")
    page.click("#larger")
    assert findings(page, axe) == []
    page.click("#theme")
    assert findings(page, axe) == []
    page.click("#export")
    assert findings(page, axe) == []
    page.keyboard.press("Escape")
    page.click("#library")
    assert findings(page, axe) == []
    page.keyboard.press("Escape")
    rewrite(page, "rocker.frame", "rokr.frame")
    wait_until(page, "document.querySelectorAll('#text .fault').length > 0")
    assert findings(page, axe) == []


def test_the_browser_itself_has_nothing_to_report(visit):
    """What developers' tools list as issues: fields without a name, unknown labels, deprecated calls.

    The browser keeps a thousand of them for every page, so that a field made anew without a name takes memory each time.
    """
    page = ready(visit())
    tools, found = page.context.new_cdp_session(page), []
    tools.on("Audits.issueAdded", lambda event: found.append(event["issue"]))
    tools.send("Audits.enable")  # tells of earlier ones too
    page.click("#library")
    page.locator("[data-entry=four_bar]").click()
    wait_until(page, "studio.state.text.includes('four_bar')")
    page.click("#library")
    page.locator("[data-entry=spinning_top]").click()
    wait_until(page, "studio.state.text.includes('spinning_top')")
    # Issues come some time after the fields are there, in their order: once a field that must be one is reported, all are.
    page.evaluate("document.body.append(Object.assign(document.createElement('input'), { className: 'probe' }))")
    for _ in range(3000):
        if found:
            break
        page.wait_for_timeout(20)
    assert {named(tools, issue) for issue in found} == {"probe"}
    tools.detach()


def named(tools: Any, issue: dict[str, Any]) -> str:
    """The class of the element that an issue is about; otherwise the issue itself."""
    node = issue["details"].get("genericIssueDetails", {}).get("violatingNodeId")
    if node is None:
        return json.dumps(issue)
    listed = tools.send("DOM.describeNode", {"backendNodeId": node})["node"].get("attributes", [])
    return dict(zip(listed[::2], listed[1::2], strict=True)).get("class", json.dumps(issue))
