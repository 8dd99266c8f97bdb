"""From grammar rules to syntax nodes, bottom-up while the text is parsed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from torseur.description.language.syntax import part_nodes as parts_of
from torseur.description.language.syntax import syntax_nodes as x

DEEPEST = 120
_ESCAPE = re.compile(r"\\(.)")


class TooDeep(Exception):
    """A formula is nested beyond what anybody writes."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start, self.end = start, end


def unquote(text: str) -> str:
    """The characters a quoted string stands for."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text[1:-1])


def _bounds(parts: list[Any]) -> tuple[int, int]:
    """First and last offset of tokens and nodes."""
    present = [part for part in parts if part is not None]
    return (_start(present[0]), _end(present[-1])) if present else (0, 0)


def _start(part: Any) -> int:
    return int(part.start if isinstance(part, x.Node) else part.start_pos)


def _end(part: Any) -> int:
    return int(part.end if isinstance(part, x.Node) else part.end_pos)


def _text(token: Any) -> str:
    return "" if token is None else unquote(str(token))


def _name_of(token: Any) -> x.Name:
    return x.Name(_start(token), _end(token), str(token))


class Builder:
    """One method per rule of grammar.lark; each takes the parts of the rule in order."""

    def _extent(self, parts: list[Any], inside: list[Any]) -> tuple[int, int, int]:
        """(start, end, depth) of a formula made of other formulas."""
        start, end = _bounds(parts)
        depth = 1 + max((part.depth for part in inside if isinstance(part, x.Expression)), default=0)
        # Counted while parsing: later stages walk formulas by recursion.
        if depth > DEEPEST:
            raise TooDeep(start, end)
        return start, end, depth

    # Formulas

    def number(self, parts: list[Any]) -> x.Number:
        value, unit = parts
        return x.Number(*self._extent(parts, []), str(value), None if unit is None else str(unit))

    def bracket(self, parts: list[Any]) -> x.Bracket:
        *components, _, unit = parts[1:]
        inside = tuple(c for c in components if c is not None)
        return x.Bracket(*self._extent(parts, components), inside, None if unit is None else str(unit))

    def enclosed(self, parts: list[Any]) -> x.Expression:
        inside: x.Expression = parts[1]
        start, end = _bounds(parts)
        return replace(inside, start=start, end=end)

    def reference(self, parts: list[Any]) -> x.Reference:
        path = tuple(str(part) for part in parts if part.type == "NAME")
        return x.Reference(*self._extent(parts, []), path, len(parts) - len(path))

    def call(self, parts: list[Any]) -> x.Call:
        function, *arguments, about, _, unit = parts
        given = tuple(a for a in arguments if a is not None)
        return x.Call(*self._extent(parts, parts), function, given, None if unit is None else str(unit), about)

    def fresh(self, parts: list[Any]) -> x.Fresh:
        label, *arguments = parts
        given = tuple(a for a in arguments if isinstance(a, x.Expression))
        return x.Fresh(*self._extent(parts, parts), str(label), given or None)

    def terms(self, parts: list[Any]) -> x.Sum:
        # a - b + c as one node with three terms, not nested: depth counts brackets, not the length of sums.
        signs = ["+", *(str(sign) for sign in parts[1::2])]
        return x.Sum(*self._extent(parts, parts), tuple(zip(signs, parts[0::2], strict=True)))

    def factors(self, parts: list[Any]) -> x.Product:
        signs = ["*", *(str(sign) for sign in parts[1::2])]
        return x.Product(*self._extent(parts, parts), tuple(zip(signs, parts[0::2], strict=True)))

    def signed(self, parts: list[Any]) -> x.Expression:
        *signs, operand = parts
        negative = sum(str(sign) == "-" for sign in signs) % 2
        inside: x.Expression = operand
        return x.Negative(*self._extent(parts, parts), inside) if negative else inside

    def raised(self, parts: list[Any]) -> x.Power:
        return x.Power(*self._extent(parts, parts), *parts)

    def compared(self, parts: list[Any]) -> x.Comparison:
        left, sign, right = parts
        return x.Comparison(*self._extent(parts, parts), str(sign), left, right)

    def turn(self, parts: list[Any]) -> x.TurnAbout:
        return x.TurnAbout(*self._extent(parts, parts), *parts)

    def offset(self, parts: list[Any]) -> x.Offset:
        return x.Offset(*self._extent(parts, parts), *parts)

    def fixed_in(self, parts: list[Any]) -> x.FixedIn:
        return x.FixedIn(*self._extent(parts, parts), *parts)

    # Names, words and properties

    def name(self, parts: list[Any]) -> x.Name:
        return x.Name(*_bounds(parts), ".".join(str(part) for part in parts))

    def string(self, parts: list[Any]) -> x.Text:
        return x.Text(*_bounds(parts), _text(parts[0]))

    def declared(self, parts: list[Any]) -> x.Declared:
        name, unit, meaning = parts
        return x.Declared(*_bounds(parts), name, unit, _text(meaning))

    def declared_list(self, parts: list[Any]) -> tuple[x.Declared, ...]:
        return tuple(parts)

    def property(self, parts: list[Any]) -> x.Property:
        return x.Property(*_bounds(parts), *parts)

    def given(self, parts: list[Any]) -> x.Property:
        name, value = parts
        return x.Property(*_bounds(parts), _name_of(name), None, value)

    def clause_word(self, parts: list[Any]) -> Any:
        return parts[0]

    sides = wrench_kind = spring_kind = clause_word

    def clause(self, parts: list[Any]) -> x.Clause:
        return x.Clause(*_bounds(parts), str(parts[0]), parts[1])

    def shape(self, parts: list[Any]) -> x.Shape:
        return x.Shape(*_bounds(parts), parts[0])

    def table_file(self, parts: list[Any]) -> x.TableFile:
        return x.TableFile(*_bounds(parts), self.string(parts))

    def speeds(self, parts: list[Any]) -> x.SpeedsFollow:
        return x.SpeedsFollow(*_bounds(parts), parts[1])

    def stops(self, parts: list[Any]) -> x.StopsAt:
        _, of, (lower, upper), *clauses = parts
        return x.StopsAt(*_bounds([parts[0], upper or lower, *clauses]), of, lower, upper, tuple(clauses))

    def both_sides(self, parts: list[Any]) -> tuple[x.Expression | None, x.Expression | None]:
        return parts[0], parts[1]

    def lower_side(self, parts: list[Any]) -> tuple[x.Expression | None, x.Expression | None]:
        return parts[0], None

    def upper_side(self, parts: list[Any]) -> tuple[x.Expression | None, x.Expression | None]:
        return None, parts[0]

    stop_word = clause_word
    stop_part = clause

    def items(self, parts: list[Any]) -> tuple[x.Item, ...]:
        return tuple(parts)

    properties = items

    # Statements

    def statement(self, parts: list[Any]) -> tuple[x.Statement, ...]:
        (fact,) = parts
        return fact if isinstance(fact, tuple) else (fact,)

    def mechanism(self, parts: list[Any]) -> x.MechanismIs:
        return x.MechanismIs(*_bounds(parts), parts[0], _text(parts[1]))

    def parameters(self, parts: list[Any]) -> tuple[x.ParameterIs, ...]:
        return tuple(parts)

    def parameter(self, parts: list[Any]) -> x.ParameterIs:
        name, value, unit, meaning = parts
        return x.ParameterIs(*_bounds(parts), self.declared([name, unit, meaning]), value)

    def gravity(self, parts: list[Any]) -> x.GravityIs:
        return x.GravityIs(*_bounds(parts), parts[0])

    def initials(self, parts: list[Any]) -> tuple[x.InitialIs, ...]:
        return tuple(parts)

    def initial(self, parts: list[Any]) -> x.InitialIs:
        of, word, value = parts
        return x.InitialIs(*_bounds(parts), of, value, is_guess=str(word) == "about")

    def actuators(self, parts: list[Any]) -> tuple[x.ActuatedIs, ...]:
        return tuple(x.ActuatedIs(*_bounds([part]), part) for part in parts)

    def is_or_about(self, parts: list[Any]) -> Any:
        return parts[0]

    def body(self, parts: list[Any]) -> x.BodyIs:
        name, items, meaning = parts
        return x.BodyIs(*_bounds([name]), name, items, _text(meaning))

    def definition(self, parts: list[Any]) -> x.DefinitionIs:
        return x.DefinitionIs(*_bounds(parts), *parts)

    def law(self, parts: list[Any]) -> x.LawIs:
        name, *arguments, unit, formula, meaning = parts
        given = tuple(a for a in arguments if a is not None)
        return x.LawIs(*_bounds([name]), name, given, unit, formula, _text(meaning))

    def table(self, parts: list[Any]) -> x.TableIs:
        name, unit, order, points = parts
        degree = None if order is None else self.number([order, None])
        return x.TableIs(*_bounds([name]), name, unit, degree, points)

    def table_points(self, parts: list[Any]) -> tuple[x.Expression, ...] | x.Text:
        return tuple(parts) if isinstance(parts[0], x.Node) else self.string(parts)

    def states(self, parts: list[Any]) -> tuple[x.StateIs, ...]:
        return tuple(parts)

    def state(self, parts: list[Any]) -> x.StateIs:
        of, value, unit, meaning = parts
        return x.StateIs(*_bounds(parts), of, value, unit, _text(meaning))

    def state_equation(self, parts: list[Any]) -> x.StateEquationIs:
        return x.StateEquationIs(*_bounds(parts), *parts)

    def unknown(self, parts: list[Any]) -> tuple[x.StateIs, x.StateEquationIs]:
        """An unknown is a state whose rate is in no equation."""
        *state, left, right = parts
        return self.state(state), self.state_equation([left, right])

    def new_value(self, parts: list[Any]) -> x.NewValue:
        return x.NewValue(*_bounds(parts), *parts)

    def sampled(self, parts: list[Any]) -> x.UpdateIs:
        period, *values, name = parts
        return x.UpdateIs(*_bounds([period, *values]), period, None, tuple(values), name)

    def triggered(self, parts: list[Any]) -> x.UpdateIs:
        condition, *values, name = parts
        return x.UpdateIs(*_bounds([condition, *values]), None, condition, tuple(values), name)

    def sensor(self, parts: list[Any]) -> x.SensorIs:
        return x.SensorIs(*_bounds(parts), *parts)

    def measured(self, parts: list[Any]) -> x.MeasureIs:
        name, value, meaning = parts
        return x.MeasureIs(*_bounds([name]), name, value, _text(meaning))

    def join(self, parts: list[Any]) -> x.JointIs:
        first, order, second, name, kind, coordinates, items = parts
        return x.JointIs(
            *_bounds([first, second]), first, second, str(order) == "to", name, _name_of(kind), coordinates or (), items
        )  # fmt: skip

    def wrench_part(self, parts: list[Any]) -> x.WrenchPart:
        kind, given = parts
        value, items = (None, given) if isinstance(given, tuple) else (given, ())
        end = _end(items[-1] if items else given)
        return x.WrenchPart(_start(kind), end, str(kind), value, items)

    def wrench(self, parts: list[Any]) -> x.WrenchIs:
        *wrenches, axes, in_joint, target, name = parts
        return x.WrenchIs(*_bounds([*wrenches, target]), tuple(wrenches), axes, target, in_joint is not None, name)

    def spring(self, parts: list[Any]) -> x.SpringIs:
        kind, items, *ends, name = parts
        pair = (ends[0], ends[1]) if len(ends) == 2 else None
        return x.SpringIs(*_bounds([kind, ends[-1]]), str(kind), items, pair, None if pair else ends[0], name)

    def loose(self, parts: list[Any]) -> x.Loose:
        return x.Loose(*_bounds(parts), *parts)

    def bound(self, parts: list[Any]) -> x.BoundIs:
        return x.BoundIs(*_bounds(parts), *parts)

    def rubbing(self, parts: list[Any]) -> x.FrictionIs:
        items, *rest, on, name = parts
        slips = tuple(part for part in rest if part is not None)
        return x.FrictionIs(*_bounds([*items, *slips]), items, slips, on, name)

    touching = clause
    touching_word = clause_word

    def contact(self, parts: list[Any]) -> x.ContactIs:
        shape, *rest, name = parts
        at = next(i for i, part in enumerate(rest) if isinstance(part, x.Reference))
        sizes, ground, conditions = tuple(rest[:at]), rest[at], tuple(rest[at + 1 :])
        return x.ContactIs(*_bounds([shape, ground, *conditions]), shape, sizes, ground, conditions, name)

    def equation(self, parts: list[Any]) -> x.EquationIs:
        return x.EquationIs(*_bounds(parts), *parts)

    def distance(self, parts: list[Any]) -> x.DistanceIs:
        return x.DistanceIs(*_bounds(parts), *parts)

    def rolling(self, parts: list[Any]) -> x.RollingIs:
        return x.RollingIs(*_bounds(parts), *parts)

    def drawing(self, parts: list[Any]) -> x.DrawingIs:
        kind, text, items, (word, places) = parts
        written = None if text is None else x.Text(_start(text), _end(text), _text(text))
        return x.DrawingIs(*_bounds([kind, places[-1]]), _name_of(kind), written, items, word, places)

    def draw_on(self, parts: list[Any]) -> tuple[str, tuple[x.Expression, ...]]:
        return "on", tuple(parts)

    def draw_between(self, parts: list[Any]) -> tuple[str, tuple[x.Expression, ...]]:
        return "between", tuple(parts)

    def draw_through(self, parts: list[Any]) -> tuple[str, tuple[x.Expression, ...]]:
        return "through", tuple(parts)

    def draw_of(self, parts: list[Any]) -> tuple[str, tuple[x.Expression, ...]]:
        return "of", tuple(parts)

    # Parts

    def part_head(self, parts: list[Any]) -> parts_of.PartHead:
        name, parameters, meaning, attachments = parts
        return parts_of.PartHead(*_bounds([name]), name, _text(meaning), parameters or (), attachments or ())

    def header_parameters(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    given_values = attachments = header_parameters

    def attachment(self, parts: list[Any]) -> parts_of.Attachment:
        return parts_of.Attachment(*_bounds(parts), *parts)

    def use(self, parts: list[Any]) -> parts_of.UseIs:
        part, of_part, name, of_name, values, *clauses = parts
        indices = (*(of_part or ()), *(of_name or ()))
        return parts_of.UseIs(*_bounds([part, name]), part, name or part, indices, values or (), tuple(clauses))

    def indices(self, parts: list[Any]) -> tuple[parts_of.Index, ...]:
        return tuple(parts[1:-1])

    def index(self, parts: list[Any]) -> parts_of.Index:
        name, first, last = parts
        return parts_of.Index(*_bounds(parts), name, str(first), str(last))

    def given_value(self, parts: list[Any]) -> x.Property:
        name, value = parts
        return x.Property(*_bounds(parts), name, None, value)

    def origin(self, parts: list[Any]) -> parts_of.Origin:
        return parts_of.Origin(*_bounds(parts), self.string(parts))

    def mount(self, parts: list[Any]) -> parts_of.Mount:
        return parts_of.Mount(*_bounds(parts), *parts)

    def attached(self, parts: list[Any]) -> parts_of.Attached:
        return parts_of.Attached(*_bounds([parts[0][0], parts[0][-1]]), parts[0])

    def mirrored(self, parts: list[Any]) -> parts_of.Mirrored:
        return parts_of.Mirrored(*_bounds(parts), *parts)

    def chain(self, parts: list[Any]) -> parts_of.Chain:
        return parts_of.Chain(*_bounds(parts), *parts)
