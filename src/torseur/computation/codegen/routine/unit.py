"""Everything an entry routine reaches, translated: the functions and the externals of one compilation unit."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from torseur.computation.codegen.routine.effects import can_fail, drop_unused, needs_context, reachable
from torseur.computation.codegen.routine.nodes import (
    Call,
    CallExternal,
    Expression,
    Function,
    Local,
    Statement,
    expressions,
    walk,
)
from torseur.computation.codegen.routine.routine_language import External, Kind, Routine, RoutineError
from torseur.computation.codegen.routine.scope import Scope
from torseur.computation.codegen.routine.statements import StatementTranslator
from torseur.errors import unknown_name


class ExternalBinding(Protocol):
    """What a Program or a callback tells the translator about itself."""

    def effects(self, external: External) -> tuple[frozenset[int], bool]:
        """(positions of the arrays it writes, whether it can raise); refuses a signature that does not fit."""
        ...


@dataclass(frozen=True)
class BoundExternal:
    """An external that is not a routine, as the call sites need it."""

    external: External
    writes: frozenset[int]
    fails: bool


@dataclass(frozen=True)
class Unit:
    """One compilation unit: functions in an order where callees come first, the entry last."""

    # C sees each function before its first call and needs no prototypes.
    functions: tuple[Function, ...]
    externals: Mapping[str, BoundExternal]

    @property
    def entry(self) -> Function:
        return self.functions[-1]

    def constant_argument(self, external: str, position: int) -> str | None:
        """The entry's parameter that every call of an external passes, unchanged, at this position; else None.

        What depends on such an argument only can be computed once per call of the entry.
        """
        sources = {
            _source(self, function, call.args[position])
            for function in self.functions
            for call in function.calls
            if isinstance(call, CallExternal) and call.name == external
        }
        return sources.pop() if len(sources) == 1 else None


class Linker:
    """Translates routines once each, on demand, and looks up externals."""

    def __init__(self, statics: Mapping[str, int], externals: Mapping[str, Routine | ExternalBinding]) -> None:
        self.statics = dict(statics)
        self.externals = externals
        self.functions: dict[Routine, Function] = {}
        self.bound: dict[str, BoundExternal] = {}
        self._pending: list[Routine] = []
        self._names: set[str] = set()

    def function(self, routine: Routine, caller: Scope | None = None, node: ast.AST | None = None) -> Function:
        """The translated routine."""
        # A caller is refused or accepted by what its callee writes and whether it fails: the callee has to be
        # translated to its end first, which a recursion never is.
        if routine in self._pending:
            assert caller is not None and node is not None
            caller.fail(node, f"routine '{routine.name}' calls itself; recursion is not part of the routine language.")
        if routine not in self.functions:
            self._pending.append(routine)
            # Entered when its translation ends, after its callees: the dictionary's order is the order of definition.
            self.functions[routine] = self._translate(routine, is_entry=caller is None)
            self._pending.remove(routine)
        return self.functions[routine]

    def external(self, external: External, caller: Scope, node: ast.AST) -> Function | BoundExternal:
        """The routine an external is bound to, or the description of its Program or callback."""
        binding = self.externals.get(external.name)
        if binding is None:
            message = unknown_name("external", external.name, self.externals)
            caller.fail(node, message + f" Give it in externals={{'{external.name}': ...}}.")
        if isinstance(binding, Routine):
            return _matching(self.function(binding, caller, node), external)
        if external.name not in self.bound:
            written, can_fail = binding.effects(external)
            self.bound[external.name] = BoundExternal(external, written, can_fail)
        return self.bound[external.name]

    def _translate(self, routine: Routine, is_entry: bool) -> Function:
        scope = Scope(routine, self.statics)
        translator = StatementTranslator(scope, self)
        body = translator.function_body()
        # Before unused parts of records are dropped: an alias may be all that ties a written name to a parameter.
        touched = reachable(translator.touched, translator.aliases)
        body, unused = drop_unused(body, scope.components)
        # Callers inside the unit pass what is used alone; the entry's signature is known outside and stays.
        parameters = tuple(p for p in scope.parameters if is_entry or p.name not in unused)
        kept = {p.name for p in parameters}
        arrays = {p.name for p in parameters if p.kind.is_array}
        calls = tuple(_calls(body))
        return Function(
            name=self._unique(routine.name),
            signature=scope.signature,
            parameters=parameters,
            returns=scope.returns,
            locals={name: kind for name, kind in scope.locals.items() if name in kept or name not in unused},
            counters=tuple(scope.counters),
            storage=scope.storage,
            body=body,
            writes=frozenset(touched & arrays),
            rebound=frozenset(translator.aliases),
            calls=calls,
            fails=any(can_fail(call) for call in calls),
            uses_context=any(needs_context(call) for call in calls),
            origin=(routine.function.__doc__ or routine.function.__qualname__).splitlines()[0],
        )

    def _unique(self, name: str) -> str:
        candidate, n = name, 2
        while candidate in self._names:
            candidate, n = f"{name}_{n}", n + 1
        self._names.add(candidate)
        return candidate


def translate(entry: Routine, statics: Mapping[str, int], externals: Mapping[str, Routine | ExternalBinding]) -> Unit:
    """The compilation unit of an entry routine."""
    for name, value in statics.items():
        if not isinstance(value, int):
            raise RoutineError(f"static '{name}' is {value!r}: expected an int.")
    linker = Linker(statics, externals)
    linker.function(entry)
    return Unit(tuple(linker.functions.values()), linker.bound)


def _matching(function: Function, external: External) -> Function:
    given = [_name_of(type_.kind, type_.record) for _, type_ in function.signature]
    wanted = [_name_of(argument.kind, argument.record) for argument in external.arguments]
    if given != wanted or function.returns is not external.returns:
        raise RoutineError(
            f"external '{external.name}' is bound to routine '{function.name}', whose signature "
            f"{_signature(given, function.returns)} is not {_signature(wanted, external.returns)}."
        )
    return function


def _name_of(kind: Kind, record: type | None) -> str:
    return kind.value if record is None else record.__name__


def _signature(names: list[str], returns: Kind) -> str:
    return f"({', '.join(names)}) -> {returns.value}"


def _calls(body: tuple[Statement, ...]) -> Iterator[Call | CallExternal]:
    for expression in expressions(body):
        for part in walk(expression):
            if isinstance(part, (Call, CallExternal)):
                yield part


def _source(unit: Unit, function: Function, argument: Expression) -> str | None:
    """The entry's parameter an argument is, through every chain of calls; None when it may be anything else."""
    names = [p.name for p in function.parameters]
    if not isinstance(argument, Local) or argument.name not in names:
        return None
    # An array that someone writes, or a name that may come to mean another array, is not the entry's any more.
    if argument.name in function.writes or argument.name in function.rebound:
        return None
    if function is unit.entry:
        return argument.name
    position = names.index(argument.name)
    sources = {
        _source(unit, caller, call.args[position])
        for caller in unit.functions
        for call in caller.calls
        if isinstance(call, Call) and call.function is function
    }
    return sources.pop() if len(sources) == 1 else None
