"""The properties and clauses of a body, joint or load: each at most once, none unknown."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.description.language.formulas.name_scope import Scope
from torseur.description.language.syntax import syntax_nodes as x
from torseur.errors import nearest


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
        items = [(i, p) for i, p in enumerate(self.items) if isinstance(p, x.Property) and p.name.text == name]
        for index, item in items:
            self._taken.add(index)
            if item is not items[0][1]:
                self.scope.fault(item.name, f"'{name}' of {self.owner} is given twice.")
        return items[0][1] if items else None

    def properties(self, *names: str) -> list[x.Property]:
        """All properties of these names in the order of the text, for those that may be given per coordinate."""
        items = [(i, p) for i, p in enumerate(self.items) if isinstance(p, x.Property) and p.name.text in names]
        self._taken |= {index for index, _ in items}
        return [item for _, item in items]

    def clause(self, word: str) -> x.Expression | None:
        """The value after a word such as `about`, if it is there."""
        items = [(i, c) for i, c in enumerate(self.items) if isinstance(c, x.Clause) and c.word == word]
        for index, item in items:
            self._taken.add(index)
            if item is not items[0][1]:
                self.scope.fault(item, f"'{word}' of {self.owner} is given twice.")
        return items[0][1].value if items else None

    def file(self) -> x.Text | None:
        """The file after `table`, if there is one."""
        items = [(i, t) for i, t in enumerate(self.items) if isinstance(t, x.TableFile)]
        for index, item in items:
            self._taken.add(index)
            if item is not items[0][1]:
                self.scope.fault(item, f"{self.owner} has two tables.")
        return items[0][1].file if items else None

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
