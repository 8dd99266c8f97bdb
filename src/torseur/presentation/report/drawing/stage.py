"""The animation's frame and the plots' frames: what is there before the script fills them."""

from __future__ import annotations

from torseur.presentation.report.page.equation_view import Index, math
from torseur.presentation.report.page.report_content import Curve, Plot, ReportContent
from torseur.presentation.scene.palette import SERIES
from torseur.presentation.scene.pictures.poster import poster
from torseur.presentation.typesetting.markup import Markup, element

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")
CHOOSER_FROM = 7  # a plot with more curves gets a chooser in place of a plain legend
KEYS = "Drag to turn, shift-drag to move, wheel or pinch to zoom. Arrow keys turn, + and - zoom, 0 resets."


def stage(content: ReportContent) -> Markup:
    """Canvas, poster and transport bar."""
    scene = content.scene
    if scene is None:
        return Markup()
    canvas = element(
        "canvas",
        id="scene",
        tabindex=0,
        role="img",
        aria_label=f"Animation of {content.title}. {KEYS}",
        hidden=True,
    )
    picture = element("div", poster(scene), canvas, class_="picture")
    below = element("p", content.still, class_="reason") if content.still else _transport(content)
    return element("section", _views(content), picture, below, class_="card stage", aria_label="Animation")


def _views(content: ReportContent) -> Markup:
    """Buttons over the picture: points of view, and which path is traced."""
    names = {
        "home": "Reset",
        "front": "Front",
        "side": "Side",
        "top": "Top",
        "space": "3D" if content.view.flat else "Flat",
    }
    buttons = [element("button", text, type="button", data_view=key) for key, text in names.items()]
    buttons.append(
        element(
            "button",
            "Follow",
            type="button",
            id="follow",
            aria_pressed="false",
            title="Keep the mechanism in the picture",
        )
    )
    buttons += [
        element("button", overlay.label, type="button", data_overlay=number, aria_pressed="true")
        for number, overlay in enumerate(content.overlays)
    ]
    if len(content.view.traces) > 0:
        drawn = any(trace.shown for trace in content.view.traces)
        # The numbers of NO_PATH, ALL_PATHS and DRAWN_PATHS in scene/stage.js.
        options = [element("option", "no path", value="-1")]
        options += [element("option", "drawn paths", value="-3", selected=True)] if drawn else []
        options += [element("option", "all paths", value="-2")] if len(content.view.traces) > 1 else []
        options += [
            element("option", f"path of {trace.label or trace.body}", value=number, selected=number == 0 and not drawn)
            for number, trace in enumerate(content.view.traces)
        ]
        buttons.append(element("select", *options, id="trace", aria_label="Path shown"))
    return element("div", *buttons, class_="views", hidden=True)


def _transport(content: ReportContent) -> Markup:
    assert content.motion is not None
    times = content.motion.times
    first, last = float(times[0]), float(times[-1])
    play = element(
        "button",
        element("span", class_="icon"),
        type="button",
        id="play",
        aria_label="Play",
        title="Play or pause (space)",
    )
    slider = element(
        "input",
        type="range",
        id="time",
        min=f"{first:.6g}",
        max=f"{last:.6g}",
        step="any",
        value=f"{content.view.start:.6g}",
        aria_label="Time in seconds",
    )
    speeds = [element("option", f"{speed}×", value=speed, selected=speed == "1") for speed in SPEEDS]
    return element(
        "div",
        play,
        slider,
        element("output", f"{content.view.start:.2f} s", id="clock"),
        element("select", *speeds, id="speed", aria_label="Speed of playing"),
        class_="transport",
    )


def plots(content: ReportContent, index: Index, identifier: str | None = "plots", label: str = "Plots") -> Markup:
    """Frames of all plots, legends included."""
    if not content.plots:
        return Markup()
    frames = [_plot(plot, number, index) for number, plot in enumerate(content.plots)]
    return element("section", *frames, class_="card plots", id=identifier, aria_label=label)


def _plot(plot: Plot, number: int, index: Index) -> Markup:
    heading = element("h3", plot.title, element("small", plot.unit))
    tools = [
        element("button", text, type="button", data_tool=tool, title=title)
        for tool, text, title in (
            ("reset", "Reset", "Show the whole time again (double-click)"),
            ("svg", "SVG", "Save as SVG"),
            ("png", "PNG", "Save as PNG"),
            ("csv", "CSV", "Save the numbers as CSV"),
        )
    ]
    keys = [
        _key(curve, place, index, series)
        for place, (curve, series) in enumerate(zip(plot.curves, series_numbers(plot), strict=True))
    ]
    area = element("div", class_="area", tabindex=0, role="img", aria_label=_describe(plot))
    shown = element("span", *tools, class_="tools")
    if len(keys) < CHOOSER_FROM:
        head = [element("div", heading, element("div", *keys, class_="keys"), shown, class_="plot-head")]
    else:
        head = [
            element("div", heading, _opener(plot), shown, class_="plot-head"),
            _picker(plot),
            element("div", *keys, class_="keys many"),
        ]
    return element("div", *head, area, class_="plot", data_plot=number)


def _opener(plot: Plot) -> Markup:
    """What opens the full list, for more curves than one can read at once."""
    return element(
        "button",
        f"{len(plot.curves)} curves",
        type="button",
        data_choose="list",
        aria_expanded="false",
        class_="chip",
    )


def _picker(plot: Plot) -> Markup:
    """What picks from the full list of curves."""
    filter_box = element("input", type="search", placeholder="filter", aria_label=f"Filter the curves of {plot.title}")
    every = element("button", "all", type="button", data_choose="all")
    none = element("button", "none", type="button", data_choose="none")
    return element("div", filter_box, every, none, class_="choose", hidden=True)


def series_numbers(plot: Plot) -> list[int]:
    """Colour numbers of the curves without a body, counted within the plot."""
    count = 0
    numbers = []
    for curve in plot.curves:
        numbers.append(count % len(SERIES))
        count += curve.body is None
    return numbers


def curve_colour(curve: Curve, series: int, index: Index) -> str:
    """The style variable that holds a curve's colour."""
    return f"--series-{series}" if curve.body is None else f"--body-{index.bodies[curve.body]}"


def _key(curve: Curve, place: int, index: Index, series: int) -> Markup:
    label = [math(curve.symbol.markup(), aria_label=curve.symbol.words)] if curve.symbol else []
    label.append(element("span", curve.label, class_="long" if curve.symbol else None))
    colour = f"colour-{index.bodies[curve.body]}" if curve.body else f"series-{series}"
    return element(
        "button",
        element("i"),
        *label,
        element("output"),
        type="button",
        aria_pressed="true",
        data_curve=place,
        class_=f"key {colour}" + (" dashed" if curve.dashed else ""),
        title=curve.label,
        data_body=index.bodies[curve.body] if curve.body else None,
    )


def _describe(plot: Plot) -> str:
    names = ", ".join(curve.label for curve in plot.curves[:CHOOSER_FROM])
    more = ", ..." if len(plot.curves) >= CHOOSER_FROM else ""
    return (
        f"{plot.title} in {plot.unit or 'no unit'} over time: {names}{more}. "
        "Arrow keys move through time, plus and minus zoom, shift with arrows pans, 0 shows all."
    )
