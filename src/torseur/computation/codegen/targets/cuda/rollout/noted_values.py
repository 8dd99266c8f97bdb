"""What is taken of a motion that is watched, and when: the text that notes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ORDER = {"maximum": ">", "minimum": "<"}

TAKEN = """\
/* The best values so far, and how often events happened, by criterion. */
template <class T> struct taken_so_far {{ T best[{criteria}]; int seen[{criteria}]; int stops; }};
"""

NOTE = """\
/* {words} */
template <class T, class F>
TORSEUR_DEVICE void note_{moment}(const T now, const T *x, const T *dx, {constants}, taken_so_far<T> *taken, T *judged,
                                  long long stride) {{
  T noted[{size}];
  at_{moment}<T, F>({called}, noted, 1);
{lines}}}
"""

WRITE = "TORSEUR_UNROLL for (int k = 0; k < {width}; ++k) judged[({first} + k) * stride] = noted[{place} + k];"


@dataclass(frozen=True)
class Take:
    """A number that is noted for a criterion: of which kind that is, and at which occurrence of an event it counts."""

    criterion: int
    kind: str
    occurrence: int = 0


@dataclass(frozen=True)
class Watch:
    """What is taken at the start, at each event, and at the end or where an event stops the motion.

    columns     parameters by which the changes of each number are taken with it
    directions  of the changes of sign that are events: 1, -1, or 0 for both
    stop        which event ends the motion, and at which of its occurrences; None where nothing does
    """

    criteria: int
    columns: int
    start: tuple[Take, ...]
    end: tuple[Take, ...]
    events: tuple[tuple[Take, ...], ...] = ()
    directions: tuple[int, ...] = ()
    stop: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """Numbers of a criterion: its value and its changes."""
        return 1 + self.columns

    @property
    def moments(self) -> dict[str, tuple[Take, ...]]:
        """What is taken by the name of the moment, where anything is."""
        found = {"start": self.start, "end": self.end, "stop": self.end if self.stop is not None else ()}
        found |= {f"event_{k}": takes for k, takes in enumerate(self.events)}
        return {name: takes for name, takes in found.items() if takes}


def notes_text(watch: Watch, words: Mapping[str, object], called: Mapping[str, str]) -> str:
    """A function per moment, which computes what is noted then and writes what counts."""
    texts = [TAKEN.format(criteria=max(watch.criteria, 1))]
    for moment, takes in watch.moments.items():
        lines = "".join(f"  {_taking(take, j, moment, watch.width)}\n" for j, take in enumerate(takes))
        text = NOTE.format(
            words=f"Criteria at: {moment.replace('_', ' ')}.",
            moment=moment,
            constants=words["constants"],
            size=watch.width * len(takes),
            called=called[f"at_{moment}"],
            lines=lines,
        )
        texts.append(text)
    if not watch.end:
        texts.append(_nothing("end", words))
    return "\n".join(texts)


def _taking(take: Take, place: int, moment: str, width: int) -> str:
    """The statement that writes a number where it counts."""
    value, criterion = f"noted[{place * width}]", take.criterion
    write = WRITE.format(width=width, first=criterion * width, place=place * width)
    if take.occurrence:
        return f"if (++taken->seen[{criterion}] == {take.occurrence}) {{ {write} }}"
    if take.kind not in ORDER:
        return write
    kept = f"taken->best[{criterion}]"
    better = "" if moment == "start" else f"if ({value} {ORDER[take.kind]} {kept}) "
    return f"{better}{{ {kept} = {value}; {write} }}"


def _nothing(moment: str, words: Mapping[str, object]) -> str:
    given = f"const T, const T *, const T *, {words['constants_unnamed']}, taken_so_far<T> *, T *, long long"
    return f"template <class T, class F> TORSEUR_DEVICE void note_{moment}({given}) {{}}\n"


def dispatch_text(watch: Watch, passed: str) -> str:
    """What is done when event `fired` happens: notes, and the count of those that stop the motion."""
    lines = [
        f"        if (fired == {k}) note_event_{k}<T, F>(t, x, slopes, {passed}, &taken, judged, stride);\n"
        for k, takes in enumerate(watch.events)
        if takes
    ]
    if watch.stop is not None:
        event, occurrence = watch.stop
        note = f"note_stop<T, F>(t, x, slopes, {passed}, &taken, judged, stride);" if watch.end else ""
        stops = f"fired == {event} && ++taken.stops == {occurrence}"
        lines.append(f"        if ({stops}) {{ stopped = true; {note} }}\n")
    return "".join(lines)
