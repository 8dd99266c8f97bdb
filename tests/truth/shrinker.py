"""Failures reduced to a minimal text: what can be taken away while the failure stays, is taken away.

Works on the text alone, statement by statement: whole bodies with what hangs on them, statements, items of lists, clauses of
joints, placements, and finally numbers. `fails` decides, and must be True for a text only if it fails in the same way.
"""

from __future__ import annotations

import re


def shrink(text, fails, budget=400):
    """A smaller text that still fails; at most `budget` trials."""
    left = [budget]

    def still(candidate):
        if left[0] <= 0 or candidate == current[0]:
            return False
        left[0] -= 1
        try:
            return fails(candidate)
        except Exception:
            return False

    current = [text]
    before = None
    while before != current[0] and left[0] > 0:
        before = current[0]
        for candidates in (
            _without_bodies,
            _without_statements,
            _without_items,
            _without_clauses,
            _plainer_places,
            _plainer_numbers,
        ):
            # Candidates are made anew after each success, because places in the text have moved.
            progress = True
            while progress and left[0] > 0:
                progress = False
                for candidate in candidates(current[0]):
                    if still(candidate):
                        current[0] = candidate
                        progress = True
                        break
    return current[0]


def _statements(text):
    return [s.strip() + " ;" for s in text.split(";") if s.strip()]


def _joined(statements):
    return "\n".join(statements) + "\n"


def _without_bodies(text):
    """A body's statements are dropped; what hung on it hangs on the earth instead, or goes too."""
    for name in reversed(re.findall(r"let (\w+) = body", text)):
        mine = re.compile(rf"\b{name}\b")
        yield _joined([s for s in _statements(text) if not mine.search(s)])
        kept = [s for s in _statements(text) if not re.match(rf"let {name} = body", s)]
        hung = [re.sub(rf"\b{name}\.frame", "earth", re.sub(rf"@ {name}\b", "@ earth", s)) for s in kept]
        yield _joined([s for s in hung if not re.search(r"(earth|@ earth) to [^;]*earth as", s)])


def _without_statements(text):
    statements = _statements(text)
    for k in range(len(statements)):
        yield _joined(statements[:k] + statements[k + 1 :])


def _without_items(text):
    """Items of init and of param, one by one."""
    statements = _statements(text)
    for k, s in enumerate(statements):
        word = re.match(r"(init|param) ", s)
        if word:
            items = s[len(word[0]) : -2].split(", ")
            for i in range(len(items)):
                rest = items[:i] + items[i + 1 :]
                changed = [f"{word[0]}{', '.join(rest)} ;"] if rest else []
                yield _joined(statements[:k] + changed + statements[k + 1 :])


_CLAUSES = (
    r" speeds [^;]*?(?= end)", r", (damping|rest|torsion_damping|torsion|dof\d) = [^,;]*?(?=,| between| on| end| speeds)", r" tyre [^ ]* m",
    r" angles \w+", r" about \[[^\]]*\]", r", torque \[[^\]]*\](?: N\*m)?", r" in b\d+(?= on)",
)  # fmt: skip


def _without_clauses(text):
    for pattern in _CLAUSES:
        for match in re.finditer(pattern, text):
            yield text[: match.start()] + text[match.end() :]


def _plainer_places(text):
    """No turn, no offset; a body's own frame."""
    for match in re.finditer(r" \+\+ \([^()]*\)", text):
        yield text[: match.start()] + text[match.end() :]
    for match in re.finditer(r"\[[^\]]*\] m @ (\w+)", text):
        own = "earth" if match[1] == "earth" else f"{match[1]}.frame"
        yield text[: match.start()] + own + text[match.end() :]


def _plainer_numbers(text):
    for match in re.finditer(r"(?<![\w.])-?\d+\.\d+", text):
        for plain in ("0", "1", f"{float(match[0]):.1f}"):
            if len(plain) < len(match[0]):
                yield text[: match.start()] + plain + text[match.end() :]
