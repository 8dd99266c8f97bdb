"""Translated routines printed as C functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torseur.computation.codegen.routine.effects import leaves
from torseur.computation.codegen.routine.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    CallExternal,
    Compare,
    Const,
    Continue,
    Convert,
    Evaluate,
    Expression,
    For,
    Function,
    If,
    Intrinsic,
    Load,
    Local,
    Logic,
    NewArray,
    Power,
    Return,
    Select,
    Statement,
    StopIfFailed,
    Store,
    TableLoad,
    Unary,
    View,
    While,
)
from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.routine.typing import LARGEST_EXPANDED_POWER
from torseur.computation.codegen.sources.identifiers import Names, comment, identifier
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, TYPES, double, integer

PRELUDE = """\
static inline int64_t int_abs(int64_t a) { return a < 0 ? -a : a; }
static inline int64_t int_min(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t int_max(int64_t a, int64_t b) { return b > a ? b : a; }
static inline double float_min(double a, double b) { return b < a ? b : a; }
static inline double float_max(double a, double b) { return b > a ? b : a; }
static inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  int64_t q = a / b;
  return q - (q * b != a && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * floor_div(a, b); }
""" + "".join(
    f"static inline {type_} {name}_power{n}({type_} a) {{ return {' * '.join('a' * n)}; }}\n"
    for name, type_ in (("float", "double"), ("int", "int64_t"))
    # A function per exponent where the base is an expression, so that it is evaluated once.
    for n in range(2, LARGEST_EXPANDED_POWER + 1)
)

ExternalPrinter = Callable[[CallExternal, list[str]], str]


def function_name(function: Function) -> str:
    return f"routine_{identifier(function.name)}"


class RoutinePrinter:
    """Prints one function; `external` spells the call of a Program or callback from its printed arguments."""

    def __init__(self, function: Function, external: ExternalPrinter, tables: Tables) -> None:
        self.function = function
        self.external = external
        self.tables = tables
        self.lines: list[str] = []
        self.depth = 1
        names = Names(RESERVED)
        self.names = {name: names.unique(name) for name in (*function.locals, *function.counters, *function.storage)}

    def text(self) -> str:
        """The whole definition."""
        function = self.function
        parameters = [f"{TYPES[p.kind]} {self.names[p.name]}" for p in function.parameters]
        if function.uses_context:
            parameters.append("context *ctx")
        head = f"static {TYPES[function.returns]} {function_name(function)}({', '.join(parameters) or 'void'})"
        self._declarations()
        self._block(function.body)
        origin = comment(function.origin)
        return "\n".join([f"/* {origin} */", head + " {", *self.lines, "}", ""])

    def _declarations(self) -> None:
        own = {p.name for p in self.function.parameters}
        for name, kind in self.function.locals.items():
            if name not in own:
                self._line(f"{TYPES[kind]} {self.names[name]} = 0;")
        for name, (kind, size) in self.function.storage.items():
            self._line(f"{TYPES[kind.element]} {self.names[name]}[{max(size, 1)}];")

    def _line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def _block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self._STATEMENTS[type(statement)](self, statement)

    def _nest(self, head: str, body: tuple[Statement, ...], first: str = "") -> None:
        self._line(head + " {")
        self.depth += 1
        if first:
            self._line(first)
        self._block(body)
        self.depth -= 1
        self._line("}")

    # -- statements ------------------------------------------------------------------------------------

    def _assign(self, s: Assign) -> None:
        self._line(f"{self.names[s.name]} = {self.top(s.value)};")

    def _new_array(self, s: NewArray) -> None:
        storage = self.names[s.storage]
        self._line(f"memset({storage}, 0, sizeof {storage});")
        self._line(f"{self.names[s.name]} = {storage};")

    def _store(self, s: Store) -> None:
        self._line(f"{self.value(s.array)}[{self.top(s.index)}] = {self.top(s.value)};")

    def _evaluate(self, s: Evaluate) -> None:
        self._line(f"{self.top(s.value)};")

    def _if(self, s: If) -> None:
        self._nest(f"if ({self.top(s.condition)})", s.then)
        if s.otherwise:
            self._nest("else", s.otherwise)

    def _while(self, s: While) -> None:
        self._nest(f"while ({self.top(s.condition)})", s.body)

    def _for(self, s: For) -> None:
        counter, stop = self.names[s.counter], self.top(s.stop)
        start = f"int64_t {counter} = {self.top(s.start)}"
        if not isinstance(s.stop, Const):
            start, stop = f"{start}, {counter}_stop = {stop}", f"{counter}_stop"
        test = f"{counter} {'<' if s.step > 0 else '>'} {stop}"
        self._nest(f"for ({start}; {test}; {counter} += {s.step})", s.body, f"{self.names[s.name]} = {counter};")

    def _labelled_block(self, s: Block) -> None:
        self._block(s.body)
        if leaves(s.body, s.label):
            self._line(f"{identifier(s.label)}:;")

    def _break(self, s: Break) -> None:
        """Python leaves innermost loops only, so a label that is not an unrolled loop's is the C loop around."""
        self._line("break;" if s.label.startswith(("while.", "for.")) else f"goto {identifier(s.label)};")

    def _continue(self, s: Continue) -> None:
        self._line("continue;")

    def _return(self, s: Return) -> None:
        self._line("return;" if s.value is None else f"return {self.top(s.value)};")

    def _stop(self, s: StopIfFailed) -> None:
        default = {Kind.NONE: "", Kind.FLOAT: " NAN"}.get(self.function.returns, " 0")
        self._line(f"if (ctx->failed) return{default};")

    # -- expressions -----------------------------------------------------------------------------------

    def top(self, node: Expression) -> str:
        """An expression that stands alone, without outer parentheses."""
        text = self.value(node)
        return text[1:-1] if isinstance(node, (Binary, Compare, Logic, Select)) else text

    def value(self, node: Expression) -> str:
        """An expression that can stand inside any other."""
        return self._EXPRESSIONS[type(node)](self, node)

    def _const(self, e: Const) -> str:
        return double(e.value) if e.kind is Kind.FLOAT else integer(int(e.value))

    def _local(self, e: Local) -> str:
        return self.names[e.name]

    def _unary(self, e: Unary) -> str:
        return f"({'-' if e.op == 'neg' else '!'}{self.value(e.a)})"

    def _binary(self, e: Binary) -> str:
        if e.op in ("//", "%"):
            return f"({'floor_div' if e.op == '//' else 'floor_mod'}({self.top(e.a)}, {self.top(e.b)}))"
        return f"({self.value(e.a)} {e.op} {self.value(e.b)})"

    def _power(self, e: Power) -> str:
        name = "float_power" if e.kind is Kind.FLOAT else "int_power"
        if isinstance(e.a, Local):
            return "(" + " * ".join([self.value(e.a)] * e.exponent) + ")"
        return f"{name}{e.exponent}({self.top(e.a)})"

    def _logic(self, e: Logic) -> str:
        return f"({self.value(e.a)} {'&&' if e.op == 'and' else '||'} {self.value(e.b)})"

    def _select(self, e: Select) -> str:
        return f"({self.value(e.condition)} ? {self.value(e.a)} : {self.value(e.b)})"

    def _convert(self, e: Convert) -> str:
        if e.kind is Kind.BOOL:
            return f"({self.value(e.a)} != 0)"
        return f"(({TYPES[e.kind]}){self.value(e.a)})"

    def _load(self, e: Load) -> str:
        return f"{self.value(e.array)}[{self.top(e.index)}]"

    def _table_load(self, e: TableLoad) -> str:
        return f"{self.tables.name(e.table, e.kind)}[{self.top(e.index)}]"

    def _view(self, e: View) -> str:
        return f"({self.value(e.array)} + {self.value(e.offset)})"

    def _intrinsic(self, e: Intrinsic) -> str:
        arguments = ", ".join(self.top(a) for a in e.args)
        if e.name in ("min", "max", "abs"):
            return f"{'float' if e.kind is Kind.FLOAT else 'int'}_{e.name}({arguments})"
        return f"((int64_t)floor({arguments}))" if e.name == "floor" else f"{e.name}({arguments})"

    def _call(self, e: Call) -> str:
        context = ["ctx"] if e.function.uses_context else []
        return f"{function_name(e.function)}({', '.join([*[self.top(a) for a in e.args], *context])})"

    def _call_external(self, e: CallExternal) -> str:
        return self.external(e, [self.top(a) for a in e.args])

    _STATEMENTS: Mapping[type, Callable[[Any, Any], None]] = {
        Assign: _assign,
        NewArray: _new_array,
        Store: _store,
        Evaluate: _evaluate,
        If: _if,
        While: _while,
        For: _for,
        Block: _labelled_block,
        Break: _break,
        Continue: _continue,
        Return: _return,
        StopIfFailed: _stop,
    }
    _EXPRESSIONS: Mapping[type, Callable[[Any, Any], str]] = {
        Const: _const,
        Local: _local,
        Unary: _unary,
        Binary: _binary,
        Power: _power,
        Compare: _binary,
        Logic: _logic,
        Select: _select,
        Convert: _convert,
        Load: _load,
        TableLoad: _table_load,
        View: _view,
        Intrinsic: _intrinsic,
        Call: _call,
        CallExternal: _call_external,
    }


class Tables:
    """Compile-time tables read at run time, each printed once for the unit."""

    def __init__(self) -> None:
        self._names: dict[tuple[tuple[float, ...], Kind], str] = {}

    def name(self, entries: tuple[float, ...], kind: Kind) -> str:
        return self._names.setdefault((entries, kind), f"table_{len(self._names)}")

    def text(self) -> str:
        """The definitions."""
        return "".join(
            f"static const {TYPES[kind]} {name}[] = {{"
            + ", ".join(double(e) if kind is Kind.FLOAT else integer(int(e)) for e in entries)
            + "};\n"
            for (entries, kind), name in self._names.items()
        )
