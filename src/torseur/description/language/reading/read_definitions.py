"""Parameters, laws, sensors, gravity and the initial state."""

from __future__ import annotations

from collections.abc import Callable

from torseur.algebra.graph import Expr, UndeterminedFunction, symbol
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, RATE, Dim, dimension_of
from torseur.description.language.formulas.language_functions import FUNCTIONS
from torseur.description.language.formulas.name_scope import Context, Deferred, Function, Known
from torseur.description.language.formulas.read_places import vector_of
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import Law, Measure, Parameter, Vector, implied_symbols
from torseur.description.mechanism.frames import QUANTITIES, components_of
from torseur.description.mechanism.units import si_unit_of, unit_of

ACCELERATION = dimension_of("m/s^2")


def declare_parameter(statement: x.ParameterIs, shop: Workshop) -> None:
    """Makes a parameter known; its unit is the one written, or follows from its value or its use."""
    name = statement.declared.name
    if not shop.define(name, "parameter", shop.scope.quantities):
        return
    for body, given in shop.scope.bodies.items():
        if name.text in implied_symbols(body):
            _declare_property(name, body, given.get(name.text), shop)
            return
    unit = _written_unit(statement, shop)
    dimension = shop.scope.dimensions.unknown() if unit is None else dimension_of(unit)
    meaning = statement.declared.meaning

    def build() -> Expr:
        return symbol(name.text, si_unit_of(unit or shop.scope.dimensions.unit(dimension)), meaning)

    shop.scope.quantities[name.text] = Known(dimension, build)
    shop.scope.names.taken.add(name.text)


def _declare_property(name: x.Name, body: str, left_open: Known | None, shop: Workshop) -> None:
    """A parameter called `arm.mass` is the arm's mass, if the arm leaves that open."""
    if left_open is None or isinstance(left_open.build, Deferred):
        what = name.text.removeprefix(f"{body}.")
        shop.scope.fault(name, f"body '{body}' already has its {what}.", "Call the parameter something else.")
    else:
        shop.scope.quantities[name.text] = left_open
        shop.scope.names.taken.add(name.text)


def _written_unit(statement: x.ParameterIs, shop: Workshop) -> str | None:
    if statement.declared.unit is not None:
        return shop.formulas.unit(statement.declared.unit)
    value = statement.value
    # Only a single number tells its unit: that of a formula follows from its parts.
    while isinstance(value, x.Negative):
        value = value.operand
    if not isinstance(value, x.Number) or value.unit is None:
        return None
    unit = value.unit
    return shop.attempt(value, lambda: unit if unit_of(unit) else None, None)


def read_parameter(statement: x.ParameterIs, shop: Workshop) -> Callable[[], Parameter]:
    """The parameter, ready to build."""
    name, unit = statement.declared.name.text, _written_unit(statement, shop)
    known = shop.scope.quantities[name]
    value = (
        None if statement.value is None else shop.formulas.read(statement.value, None, Context(name, slot="parameter"))
    )
    if value is not None and not value.literal:
        shop.formulas.require_dimension(value, known.dimension)
    elif statement.value is not None:
        _check_bare(statement.value, known.dimension, unit, shop)

    def build() -> Parameter:
        given = unit or shop.scope.dimensions.unit(known.dimension)
        return Parameter(known.build(), None if value is None else value.build(), given)

    return build


def _check_bare(value: x.Expression, dimension: Dim, unit: str | None, shop: Workshop) -> None:
    """A bare number is a plain number, or in the SI unit that was declared; 0 fits any dimension."""
    if unit is not None and (unit_of(unit).ratio != 1 or unit_of(unit).turns):
        shop.scope.fault(value, f"write the unit after the number: {shop.scope.excerpt(value)} {unit}.")
    elif unit is None and not (isinstance(value, x.Number) and float(value.text) == 0):
        shop.scope.dimensions.equal(dimension, NUMBER)


def declare_law(statement: x.LawIs, shop: Workshop) -> None:
    """Makes a function known: its arguments and value have the units written, or those of their use."""
    name = statement.name
    if name.text in FUNCTIONS:
        shop.scope.fault(name, f"a law cannot be called '{name.text}': that is a function of the language.")
        return
    if not shop.define(name, "law", shop.scope.functions):
        return
    unit = None if statement.unit is None else shop.formulas.unit(statement.unit)
    result = shop.scope.dimensions.unknown() if unit is None else dimension_of(unit)
    arity = len(statement.arguments)

    def build() -> UndeterminedFunction:
        return UndeterminedFunction(name.text, arity, unit or shop.scope.dimensions.unit(result), statement.meaning)

    arguments = tuple(known.dimension for known in _arguments(statement, shop).values())
    dimensions = arguments if statement.formula is not None else (None,) * arity
    shop.scope.functions[name.text] = Function(dimensions, result, build)
    shop.scope.names.taken.add(name.text)


def _arguments(statement: x.LawIs, shop: Workshop) -> dict[str, Known]:
    """The arguments of a law by name; `t` is time unless a unit says otherwise. Read once per law."""
    if statement.name.text in shop.law_arguments:
        return shop.law_arguments[statement.name.text]
    known: dict[str, Known] = {}
    for declared in statement.arguments:
        name = declared.name.text
        if name in known:
            shop.scope.fault(declared, f"argument '{name}' appears twice.")
        unit = None if declared.unit is None else shop.formulas.unit(declared.unit)
        known[name] = _time(shop) if name == "t" and declared.unit is None else _argument(name, unit, declared, shop)
    shop.law_arguments[statement.name.text] = known
    return known


def _time(shop: Workshop) -> Known:
    return shop.scope.quantities["t"]


def _argument(name: str, unit: str | None, declared: x.Declared, shop: Workshop) -> Known:
    dimension: Dim = shop.scope.dimensions.unknown() if unit is None else dimension_of(unit)
    return Known(dimension, lambda: symbol(name, unit or shop.scope.dimensions.unit(dimension), declared.meaning))


def read_law(statement: x.LawIs, shop: Workshop) -> Callable[[], Law] | None:
    """The law, ready to build; None for a function that is only declared."""
    name = statement.name.text
    function = shop.scope.functions.get(name)
    if statement.formula is None or function is None:
        return None
    arguments = _arguments(statement, shop)
    formula = shop.formulas.read(statement.formula, None, Context(name, arguments))
    if not formula.literal:
        shop.formulas.require_dimension(formula, function.result)

    def build() -> Law:
        made = function.build()
        assert isinstance(made, UndeterminedFunction)
        return Law(made, tuple(known.build() for known in arguments.values()), formula.build())

    return build


def read_gravity(statement: x.GravityIs, shop: Workshop) -> Callable[[], Vector]:
    """Gravity in earth axes, ready to build."""
    components = shop.places.vector(statement.value, ACCELERATION, Context("gravity", slot="gravity"))
    return lambda: vector_of(components)


def read_sensor(statement: x.SensorIs, shop: Workshop) -> None:
    """Declares a sensor of its own name."""
    name = statement.name
    context = Context(name.text, slot="frame")
    of = shop.places.frame(statement.of, context)
    axes = None if statement.axes is None else shop.places.frame(statement.axes, context)
    kind, component = (*statement.quantity.path, "")[:2]
    if kind not in QUANTITIES:
        shop.scope.unknown(statement.quantity, "quantity", kind, QUANTITIES)
    elif component not in components_of(kind) or len(statement.quantity.path) != 2:
        *first, last = (f"{kind}.{component}" for component in components_of(kind))
        shop.scope.fault(statement.quantity, f"say which component: {', '.join(first)} or {last}.")
    elif shop.define(name, "sensor", shop.scope.quantities):
        shop.references.sensor(name.text, kind, component, of, axes)
        shop.scope.names.taken.add(name.text)


def declare_measure(statement: x.MeasureIs, shop: Workshop) -> None:
    """Makes a measure known: other formulas may hold it, and then hold its formula."""
    name = statement.name
    if name.text in shop.scope.definitions or not shop.define(name, "measure", shop.scope.quantities):
        return

    def build() -> Expr:
        return shop.measures[name.text]()

    def fault() -> None:
        shop.scope.fault(name, f"'{name.text}' is defined in terms of itself.")

    shop.scope.quantities[name.text] = Known(shop.scope.dimensions.unknown(), Deferred(build, fault))
    shop.scope.names.taken.add(name.text)


def read_measure(statement: x.MeasureIs, shop: Workshop) -> Callable[[], Measure]:
    """The measure, ready to build."""
    name = statement.name.text
    formula = shop.formulas.read(statement.formula, None, Context(name, slot="measure"))
    known = shop.scope.quantities[name]
    shop.formulas.require_dimension(formula, known.dimension)
    shop.measures[name] = formula.build

    def build() -> Measure:
        unit = "rad" if _is_angle(statement.formula) else si_unit_of(shop.scope.dimensions.unit(known.dimension))
        return Measure(name, known.build(), unit, statement.meaning)

    return build


def _is_angle(node: x.Expression) -> bool:
    while isinstance(node, x.Negative):
        node = node.operand
    return isinstance(node, x.Call) and node.function.name in ("angle", "atan2", "atan", "asin", "acos")


def read_initial(
    statement: x.InitialIs, implied: dict[str, str], shop: Workshop
) -> tuple[str, Callable[[], Expr]] | None:
    """(name, value) of an initial coordinate, rate or speed; None after noting an unknown one."""
    node = statement.of
    state = _state(node, implied, shop)
    if state is None:
        return None
    name, dimension = state
    value = shop.formulas.read(statement.value, dimension, Context(f"init.{name}", slot="initial"))
    return name, value.build


def read_actuated(statement: x.ActuatedIs, shop: Workshop) -> str | None:
    """The name of an actuated coordinate; None after noting an unknown one."""
    coordinate = shop.references.coordinate(statement.of)
    if coordinate is not None and statement.of.primes:
        shop.scope.fault(statement.of, f"expected a coordinate, got the rate of '{coordinate[1]}'.")
        return None
    if coordinate is None:
        known = [name for joint in shop.scope.joints.values() for name in joint.full.values()]
        shop.scope.unknown(statement.of, "coordinate", statement.of.name, known)
        return None
    return coordinate[1]


def _state(node: x.Reference, implied: dict[str, str], shop: Workshop) -> tuple[str, Dim] | None:
    if node.name in implied and not node.primes:
        return node.name, dimension_of(implied[node.name])
    coordinate = shop.references.coordinate(node)
    if coordinate is not None and node.primes <= 1:
        dimension = shop.scope.quantities[coordinate[1]].dimension
        return (f"{coordinate[1]}'", dimension.times(RATE)) if node.primes else (coordinate[1], dimension)
    if node.name in shop.states and not node.primes:
        return node.name, shop.scope.quantities[node.name].dimension
    if node.name in shop.speeds and not node.primes:
        return node.name, shop.scope.quantities[node.name].dimension
    names = [full for joint in shop.scope.joints.values() for full in joint.full.values()]
    known = [*names, *(f"{name}'" for name in names), *shop.speeds, *shop.states, *implied]
    shop.scope.unknown(node, "coordinate", f"{node.name}{chr(39) * node.primes}", dict.fromkeys(known))
    return None


def law_of_heights(clause: x.Clause, shop: Workshop) -> Callable[[], UndeterminedFunction] | None:
    """The law that gives a ground's height at x and y in its frame, by its name."""
    name = clause.value.name if isinstance(clause.value, x.Reference) else ""
    found = shop.scope.functions.get(name)
    dimensions = () if found is None else (*found.arguments, found.result)
    equal = shop.scope.dimensions.equal
    if found is None or len(dimensions) != 3 or not all(d is None or equal(d, LENGTH) for d in dimensions):
        example = "law hills(x in m, y in m) = 0.1 m * cos(2 rad/m * x) ; contact ... with earth height hills"
        shop.scope.fault(clause, "a height is a law of two lengths that gives a length, by its name.", example)
        return None
    build = found.build

    def function() -> UndeterminedFunction:
        law = build()
        assert isinstance(law, UndeterminedFunction)
        return law

    return function
