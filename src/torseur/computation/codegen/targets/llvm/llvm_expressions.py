"""Expressions of translated routines printed as LLVM instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torseur.computation.codegen.routine.nodes import (
    Binary,
    Call,
    CallExternal,
    Compare,
    Const,
    Convert,
    Expression,
    Function,
    Intrinsic,
    Load,
    Local,
    Logic,
    Power,
    Select,
    TableLoad,
    Unary,
    View,
)
from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.sources.identifiers import identifier
from torseur.computation.codegen.targets.llvm.llvm_function import FunctionBuilder
from torseur.computation.codegen.targets.llvm.llvm_module import Declarations
from torseur.computation.codegen.targets.llvm.llvm_spelling import ALIAS_CLASS, TYPES, ZEROS, double

ExternalPrinter = Callable[[FunctionBuilder, CallExternal, list[str]], str]
_FLOAT_OPS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_INT_OPS = {"+": "add", "-": "sub", "*": "mul"}
# Ordered comparisons are false beside NaN, as in Python; != alone is the unordered one, true beside NaN.
_FLOAT_TESTS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
_INT_TESTS = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}


def function_name(function: Function) -> str:
    return f"routine_{identifier(function.name)}"


# Every local lives in a stack slot and is loaded where it is read. Values in static single assignment would need phi
# nodes at each join; the pass `sroa` makes them from the slots, and better than a printer could.
class ExpressionPrinter:
    """Prints expressions into a function; `external` emits the call of a Program or callback."""

    def __init__(self, external: ExternalPrinter, module: Declarations) -> None:
        self.external = external
        self.module = module
        self.code = FunctionBuilder()
        self.slots: dict[str, str] = {}

    def value(self, node: Expression) -> str:
        """The operand that holds the expression's value."""
        return self._EXPRESSIONS[type(node)](self, node)

    def _const(self, e: Const) -> str:
        if e.kind is Kind.FLOAT:
            return double(e.value)
        return str(int(e.value)) if e.kind is Kind.INT else str(bool(e.value)).lower()

    def _local(self, e: Local) -> str:
        return self.code.value(f"load {TYPES[e.kind]}, ptr {self.slots[e.name]}")

    def _unary(self, e: Unary) -> str:
        a = self.value(e.a)
        if e.op == "not":
            return self.code.value(f"xor i1 {a}, true")
        return self.code.arithmetic("fneg", a) if e.kind is Kind.FLOAT else self.code.value(f"sub i64 0, {a}")

    def _binary(self, e: Binary) -> str:
        a, b = self.value(e.a), self.value(e.b)
        if e.kind is Kind.FLOAT:
            return self.code.arithmetic(_FLOAT_OPS[e.op], a, b)
        if e.op in _INT_OPS:
            return self.code.value(f"{_INT_OPS[e.op]} i64 {a}, {b}")
        name = self.module.helper("floor_div" if e.op == "//" else "floor_mod")
        return self.code.value(f"call i64 @{name}(i64 {a}, i64 {b})")

    # a·a·a from the left, as in C and Python: squaring by halves would save products and round differently.
    def _power(self, e: Power) -> str:
        a = result = self.value(e.a)
        for _ in range(e.exponent - 1):
            result = self._multiply(result, a, e.kind)
        return result

    def _multiply(self, a: str, b: str, kind: Kind) -> str:
        return self.code.arithmetic("fmul", a, b) if kind is Kind.FLOAT else self.code.value(f"mul i64 {a}, {b}")

    def _compare(self, e: Compare) -> str:
        a, b = self.value(e.a), self.value(e.b)
        if e.a.kind is Kind.FLOAT:
            return self.code.value(f"fcmp {_FLOAT_TESTS[e.op]} double {a}, {b}")
        return self.code.value(f"icmp {_INT_TESTS[e.op]} i64 {a}, {b}")

    def _logic(self, e: Logic) -> str:
        code = self.code
        a = self.value(e.a)
        # The right side has a block of its own, entered only where the left one does not decide.
        # A phi names the blocks from which control comes: those in which the two sides END. Where a side holds an `and`
        # or a conditional of its own, that is another block than the one in which it began.
        first, other, end = code.block, code.new_block("right"), code.new_block("both")
        code.branch(a, *((other, end) if e.op == "and" else (end, other)))
        code.begin(other)
        b = self.value(e.b)
        last = code.block
        code.begin(end)
        short = "false" if e.op == "and" else "true"
        return code.value(f"phi i1 [ {short}, %{first} ], [ {b}, %{last} ]")

    def _select(self, e: Select) -> str:
        code = self.code
        then, otherwise, end = (code.new_block(stem) for stem in ("yes", "no", "chosen"))
        code.branch(self.value(e.condition), then, otherwise)
        code.begin(then)
        a = self.value(e.a)
        from_a = code.block
        code.jump(end)
        code.begin(otherwise)
        b = self.value(e.b)
        from_b = code.block
        code.begin(end)
        return code.value(f"phi {TYPES[e.kind]} [ {a}, %{from_a} ], [ {b}, %{from_b} ]")

    def _convert(self, e: Convert) -> str:
        a, source = self.value(e.a), e.a.kind
        if e.kind is Kind.BOOL:
            test = "fcmp une double" if source is Kind.FLOAT else "icmp ne i64"
            return self.code.value(f"{test} {a}, {ZEROS[source]}")
        if e.kind is Kind.FLOAT:
            return self.code.value(f"{'sitofp i64' if source is Kind.INT else 'uitofp i1'} {a} to double")
        return self._to_integer(a) if source is Kind.FLOAT else self.code.value(f"zext i1 {a} to i64")

    # fptosi of NaN or of 1e300 is undefined in LLVM, and what it gives would differ between processors.
    def _to_integer(self, a: str) -> str:
        """Truncation that saturates, so that NaN and huge values stay harmless."""
        self.module.declare("declare i64 @llvm.fptosi.sat.i64.f64(double)")
        return self.code.value(f"call i64 @llvm.fptosi.sat.i64.f64(double {a})")

    def _address(self, array: Expression, index: Expression, kind: Kind) -> str:
        base, offset = self.value(array), self.value(index)
        # `inbounds`: no routine forms the address of what lies outside its array, not even to leave it unread.
        return self.code.value(f"getelementptr inbounds {TYPES[kind]}, ptr {base}, i64 {offset}")

    def _load(self, e: Load) -> str:
        address = self._address(e.array, e.index, e.kind)
        return self.code.value(f"load {TYPES[e.kind]}, ptr {address}, align 8, {ALIAS_CLASS[e.kind]}")

    def _table_load(self, e: TableLoad) -> str:
        table = self.module.table(e.table, e.kind)
        address = self.code.value(f"getelementptr inbounds {TYPES[e.kind]}, ptr {table}, i64 {self.value(e.index)}")
        return self.code.value(f"load {TYPES[e.kind]}, ptr {address}, align 8, {ALIAS_CLASS[e.kind]}")

    def _view(self, e: View) -> str:
        return self._address(e.array, e.offset, e.kind.element)

    def _intrinsic(self, e: Intrinsic) -> str:
        arguments = [self.value(a) for a in e.args]
        if e.name in ("min", "max"):
            return self._extremum(e, *arguments)
        if e.name == "abs":
            return self.code.value(f"call i64 @{self.module.helper('int_abs')}(i64 {arguments[0]})")
        if e.name == "isnan":
            return self.code.value(f"fcmp uno double {arguments[0]}, 0.0")
        if e.name == "isfinite":
            size = self._math("fabs", arguments)
            return self.code.value(f"fcmp olt double {size}, {double(float('inf'))}")
        result = self._math(e.name, arguments)
        return self._to_integer(result) if e.name == "floor" else result

    def _math(self, name: str, arguments: list[str]) -> str:
        symbol = self.module.math(name, len(arguments))
        return self.code.value(f"call double @{symbol}({', '.join(f'double {a}' for a in arguments)})")

    def _extremum(self, e: Intrinsic, a: str, b: str) -> str:
        type_ = TYPES[e.kind]
        test = ("fcmp o" if e.kind is Kind.FLOAT else "icmp s") + ("lt" if e.name == "min" else "gt")
        # Python's order: the first stays unless the second is less, or more; so it does beside NaN.
        second = self.code.value(f"{test} {type_} {b}, {a}")
        return self.code.value(f"select i1 {second}, {type_} {b}, {type_} {a}")

    def _call(self, e: Call) -> str:
        arguments = [f"{TYPES[a.kind]} {self.value(a)}" for a in e.args]
        if e.function.uses_context:
            arguments.append("ptr %ctx")
        text = f"call {TYPES[e.kind]} @{function_name(e.function)}({', '.join(arguments)})"
        if e.kind is Kind.NONE:
            self.code.effect(text)
            return ""
        return self.code.value(text)

    def _call_external(self, e: CallExternal) -> str:
        return self.external(self.code, e, [self.value(a) for a in e.args])

    _EXPRESSIONS: Mapping[type, Callable[[Any, Any], str]] = {
        Const: _const,
        Local: _local,
        Unary: _unary,
        Binary: _binary,
        Power: _power,
        Compare: _compare,
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
