"""The properties and clauses of a body, joint or load: each at most once, none unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from torseur.description.language.formulas.name_scope import Scope
from torseur.description.language.syntax import syntax_nodes as x
from torseur.errors import nearest

I = TypeVar("I", x.Property, x.Clause, x.TableFile)


class Items:
    """Items of one thing, taken by name; `finish` notes what nobody took."""

    def __init__(self, items: Sequence[x.Item], scope: Scope, owner: str) -> None:
        self.scope, self.owner = scope, owner
        self.items = items
        self._taken: set[int] = set()
        for item in items:
            if isinstance(item, x.Property) and item.within is not None:
                message = f"'{item.name.text}' of {owner} takes no 'in': a unit follows its number."
                scope.fault(item.within, message)

    def value(self, name: str) -> x.Expression | None:
        """The formula given for a property, if any."""
        item = self._property(name)
        if item is None:
            return None
        if isinstance(item.value, x.Text):
            self.scope.fault(item.value, f"'{name}' is given by a formula, not a string.")
            return None
        if item.of is not None:
            self.scope.fault(item.of, f"'{name}' of {self.owner} does not belong to one coordinate.")
        return item.value

    def word(self, name: str) -> x.Node | None:
        """The node of a property given by a word or a string."""
        item = self._property(name)
        return None if item is None else item.value

    def _property(self, name: str) -> x.Property | None:
        return self._first(x.Property, lambda p: p.name.text == name, f"'{name}' of {self.owner} is given twice.")

    def _first(self, kind: type[I], fits: Callable[[I], bool], twice: str) -> I | None:
        """The first item of a kind that fits; all such are taken, and every further one is noted."""
        items = [(i, item) for i, item in enumerate(self.items) if isinstance(item, kind) and fits(item)]
        self._taken |= {index for index, _ in items}
        for _, item in items[1:]:
            self.scope.fault(item.name if isinstance(item, x.Property) else item, twice)
        return items[0][1] if items else None

    def properties(self, *names: str) -> list[x.Property]:
        """All properties of these names in the order of the text, for those that may be given per coordinate."""
        items = [(i, p) for i, p in enumerate(self.items) if isinstance(p, x.Property) and p.name.text in names]
        self._taken |= {index for index, _ in items}
        return [item for _, item in items]

    def clause(self, word: str) -> x.Expression | None:
        """The value after a word such as `about`, if it is there."""
        item = self._first(x.Clause, lambda c: c.word == word, f"'{word}' of {self.owner} is given twice.")
        return None if item is None else item.value

    def file(self) -> x.Text | None:
        """The file after `table`, if there is one."""
        item = self._first(x.TableFile, lambda _: True, f"{self.owner} has two tables.")
        return None if item is None else item.file

    def take(self, index: int) -> x.Item:
        """An item by its position, for readers that look at neighbours."""
        self._taken.add(index)
        return self.items[index]

    def finish(self, properties: Sequence[str], clauses: Sequence[str] = ()) -> None:
        """Notes every item that is not among what the owner has."""
        for index, item in enumerate(self.items):
            if index in self._taken:
                continue
            if isinstance(item, x.Property):
                guess = nearest(item.name.text, properties)
                hint = f"Did you mean '{guess}'?" if guess else ""
                self.scope.fault(item.name, f"{self.owner} has no '{item.name.text}'. {_choice(properties)}", hint)
            elif isinstance(item, x.Clause):
                self.scope.fault(item, f"{self.owner} has no '{item.word}'.", _choice(clauses))
            elif isinstance(item, x.SpeedsFollow):
                self.scope.fault(item, f"{self.owner} has no speeds.", _choice(properties))
            elif isinstance(item, x.Shape):
                self.scope.fault(item, f"{self.owner}: '{item.name.text}' is not followed by '='.", _choice(properties))
            else:
                self.scope.fault(item, f"{self.owner} has no table.")


def _choice(words: Sequence[str]) -> str:
    return f"It has: {', '.join(words)}." if words else ""
