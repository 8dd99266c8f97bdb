"""Translated routines printed as device functions: templates over the scalar T, and F for what a division divides by.

Arrays are to lie in registers, which have no index: loops whose bounds are known and that call no program are unrolled,
so that every index is a number. Loops around programs stay loops, because their code is long.

What stays constant along a motion, `p` in a routine, is a list of arrays on a device: some differ from thread to
thread, others hold for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.computation.codegen.routine.effects import needs_context
from torseur.computation.codegen.routine.nodes import (
    Binary,
    Call,
    CallExternal,
    Const,
    Convert,
    For,
    Function,
    Intrinsic,
    Local,
    NewArray,
    Statement,
    While,
    expressions,
    walk,
)
from torseur.computation.codegen.routine.routine_language import External, Kind, Routine
from torseur.computation.codegen.routine.unit import Linker
from torseur.computation.codegen.sources.identifiers import Names, comment
from torseur.computation.codegen.targets.c.c_routine import RoutinePrinter, Tables, function_name
from torseur.computation.codegen.targets.cuda.cuda_scalar import CUDA

CONSTANTS = "p"
"""The parameter of routines that stands for all that is constant along a motion."""

TYPES = {
    Kind.FLOAT: "T",
    Kind.INT: "long long",
    Kind.BOOL: "bool",
    Kind.ARRAY: "T *",
    Kind.INT_ARRAY: "long long *",
    Kind.NONE: "void",
}
ZEROS = {Kind.FLOAT: "T(0)", Kind.INT: "0", Kind.BOOL: "false", Kind.ARRAY: "nullptr", Kind.INT_ARRAY: "nullptr"}

PRELUDE = """\
template <class T> TORSEUR_DEVICE T smaller(const T a, const T b) { return b < a ? b : a; }
template <class T> TORSEUR_DEVICE T larger(const T a, const T b) { return b > a ? b : a; }
template <class T> TORSEUR_DEVICE T magnitude(const T a) { return a < T(0) ? -a : a; }
template <class T> TORSEUR_DEVICE bool is_finite(const T a) { return a - a == T(0); }
"""


@dataclass(frozen=True)
class DeviceFunction:
    """A function of the source behind an external; `writes` are the positions of the arrays it changes."""

    call: Callable[[Sequence[str]], str]
    writes: frozenset[int]

    # Nothing on a device can raise: StopIfFailed is never printed here.
    def effects(self, external: External) -> tuple[frozenset[int], bool]:
        """(positions of the arrays it writes, whether it can raise)."""
        return self.writes, False


@dataclass(frozen=True)
class Constants:
    """How `p` is written: as parameters of a device function, and as arguments."""

    declared: str
    passed: str
    names: tuple[str, ...]


class DevicePrinter(RoutinePrinter):
    """Prints one device function."""

    def __init__(self, function: Function, externals: Mapping[str, Any], constants: Constants) -> None:
        super().__init__(function, lambda call, arguments: externals[call.name].call(arguments), Tables())
        self.constants = constants
        names = Names(CUDA.reserved | set(constants.names))
        self.names = {name: names.unique(name) for name in (*function.locals, *function.counters, *function.storage)}

    def text(self) -> str:
        function = self.function
        parameters = [self._parameter(p.name, p.kind) for p in function.parameters]
        head = f"TORSEUR_DEVICE {TYPES[function.returns]} {function_name(function)}({', '.join(parameters)})"
        self._declarations()
        self._block(function.body)
        lines = [f"/* {comment(function.origin)} */", "template <class T, class F>", head + " {", *self.lines, "}", ""]
        return "\n".join(lines)

    def _parameter(self, name: str, kind: Kind) -> str:
        return self.constants.declared if name == CONSTANTS else f"{TYPES[kind]} {self.names[name]}"

    def _declarations(self) -> None:
        own = {p.name for p in self.function.parameters}
        for name, kind in self.function.locals.items():
            if name not in own:
                self._line(f"{TYPES[kind]} {self.names[name]} = {ZEROS[kind]};")
        for name, (kind, size) in self.function.storage.items():
            self._line(f"{TYPES[kind.element]} {self.names[name]}[{max(size, 1)}];")

    def _new_array(self, s: NewArray) -> None:
        storage, zero = self.names[s.storage], ZEROS[s.kind.element]
        self._line(f"TORSEUR_UNROLL for (int at_ = 0; at_ < {s.size}; ++at_) {storage}[at_] = {zero};")
        self._line(f"{self.names[s.name]} = {storage};")

    def _for(self, s: For) -> None:
        known = isinstance(s.start, Const) and isinstance(s.stop, Const)
        # A program of thousands of operations, copied once per round, would leave the instruction cache.
        self._line("TORSEUR_UNROLL" if known and not _reaches_programs(s.body) else "TORSEUR_ROLLED")
        counter, stop = self.names[s.counter], self.top(s.stop)
        test = f"{counter} {'<' if s.step > 0 else '>'} {stop}"
        kind = "int" if known else "long long"
        head = f"for ({kind} {counter} = {self.top(s.start)}; {test}; {counter} += {s.step})"
        self._nest(head, s.body, f"{self.names[s.name]} = {counter};")

    def _while(self, s: While) -> None:
        self._line("TORSEUR_ROLLED")
        super()._while(s)

    def _const(self, e: Const) -> str:
        if e.kind is Kind.BOOL:
            return "true" if e.value else "false"
        if e.kind is Kind.INT:
            return str(int(e.value))
        return "(T(0) / T(0))" if e.value != e.value else f"T({float(e.value)!r})"

    def _local(self, e: Local) -> str:
        return self.constants.passed if e.name == CONSTANTS else self.names[e.name]

    def _binary(self, e: Binary) -> str:
        # Whole numbers of a device are never negative here, so that C's division is Python's.
        return f"({self.value(e.a)} {e.op[:1] if e.op == '//' else e.op} {self.value(e.b)})"

    def _convert(self, e: Convert) -> str:
        if e.kind is Kind.BOOL:
            return f"({self.value(e.a)} != {ZEROS[e.a.kind]})"
        return f"{'T' if e.kind is Kind.FLOAT else '(long long)'}({self.top(e.a)})"

    def _intrinsic(self, e: Intrinsic) -> str:
        own = {"min": "smaller", "max": "larger", "abs": "magnitude", "fabs": "magnitude", "isfinite": "is_finite"}
        return f"{own.get(e.name, e.name)}({', '.join(self.top(a) for a in e.args)})"

    def _call(self, e: Call) -> str:
        return f"{function_name(e.function)}<T, F>({', '.join(self.top(a) for a in e.args)})"

    _STATEMENTS: Mapping[type, Callable[[Any, Any], None]] = {
        **RoutinePrinter._STATEMENTS,
        NewArray: _new_array,
        For: _for,
        While: _while,
    }
    _EXPRESSIONS: Mapping[type, Callable[[Any, Any], str]] = {
        **RoutinePrinter._EXPRESSIONS,
        Const: _const,
        Local: _local,
        Binary: _binary,
        Convert: _convert,
        Intrinsic: _intrinsic,
        Call: _call,
    }


def _reaches_programs(body: tuple[Statement, ...]) -> bool:
    parts = (part for expression in expressions(body) for part in walk(expression))
    return any(isinstance(part, (Call, CallExternal)) and needs_context(part) for part in parts)


@dataclass(frozen=True)
class DeviceRoutines:
    """Device functions of some entry routines and all they reach, callees first."""

    functions: tuple[Function, ...]
    entries: Mapping[str, Function]
    externals: Mapping[str, Routine | DeviceFunction]
    constants: Constants

    @classmethod
    def of(
        cls,
        entries: Sequence[Routine],
        statics: Mapping[str, int],
        externals: Mapping[str, Routine | DeviceFunction],
        constants: Constants,
    ) -> DeviceRoutines:
        """The routines translated; entries that others call come before these."""
        linker = Linker(statics, externals)
        own = {entry.name: linker.function(entry) for entry in entries}
        return cls(tuple(linker.functions.values()), own, externals, constants)

    @property
    def text(self) -> str:
        """The definitions."""
        printed = [DevicePrinter(function, self.externals, self.constants).text() for function in self.functions]
        return "\n".join([PRELUDE, *printed])

    def call(self, entry: str, given: Mapping[str, str]) -> str:
        """The call of an entry from text; `given` names its arguments and the parts of its records."""
        function = self.entries[entry]
        arguments = [self.constants.passed if p.name == CONSTANTS else given[p.name] for p in function.parameters]
        return f"{function_name(function)}<T, F>({', '.join(arguments)})"
