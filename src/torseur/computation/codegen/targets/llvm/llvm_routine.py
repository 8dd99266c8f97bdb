"""Translated routines printed as LLVM functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torseur.computation.codegen.routine.nodes import (
    Assign,
    Block,
    Break,
    Continue,
    Evaluate,
    For,
    Function,
    If,
    NewArray,
    Return,
    Statement,
    StopIfFailed,
    Store,
    While,
)
from torseur.computation.codegen.routine.routine_language import Kind
from torseur.computation.codegen.targets.llvm.llvm_expressions import ExpressionPrinter, ExternalPrinter, function_name
from torseur.computation.codegen.targets.llvm.llvm_module import Declarations
from torseur.computation.codegen.targets.llvm.llvm_spelling import ALIAS_CLASS, TYPES, ZEROS, double


class RoutinePrinter(ExpressionPrinter):
    """Prints one function."""

    def __init__(self, function: Function, external: ExternalPrinter, module: Declarations) -> None:
        super().__init__(external, module)
        self.function = function
        self.exits: dict[str, tuple[str, str]] = {}

    def text(self) -> str:
        """The whole definition."""
        function = self.function
        parameters = [f"{TYPES[p.kind]} %a{k}" for k, p in enumerate(function.parameters)]
        if function.uses_context:
            parameters.append("ptr %ctx")
        self._allocate()
        self._block(function.body)
        if function.returns is Kind.NONE:
            self.code.leave("ret void")
        self.code.close()
        return self.code.text(
            f"define internal {TYPES[function.returns]} @{function_name(function)}({', '.join(parameters)}) nounwind"
        )

    def _allocate(self) -> None:
        function = self.function
        positions = {p.name: k for k, p in enumerate(function.parameters)}
        kinds = {**function.locals, **dict.fromkeys(function.counters, Kind.INT)}
        # Parameters have slots too: routines assign to them. All start as zero: LLVM's uninitialised memory may hold a
        # different number at each read.
        for name, kind in kinds.items():
            self.slots[name] = self.code.slot(TYPES[kind])
            start = f"%a{positions[name]}" if name in positions else ZEROS[kind]
            self.code.effect(f"store {TYPES[kind]} {start}, ptr {self.slots[name]}")
        for name, (kind, size) in function.storage.items():
            self.slots[name] = self.code.slot(TYPES[kind.element], max(size, 1))

    def _block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self._STATEMENTS[type(statement)](self, statement)

    def _assign_slot(self, name: str, kind: Kind, value: str) -> None:
        self.code.effect(f"store {TYPES[kind]} {value}, ptr {self.slots[name]}")

    def _assign(self, s: Assign) -> None:
        self._assign_slot(s.name, s.value.kind, self.value(s.value))

    def _new_array(self, s: NewArray) -> None:
        storage = self.slots[s.storage]
        self.module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        self.code.effect(f"call void @llvm.memset.p0.i64(ptr align 8 {storage}, i8 0, i64 {8 * s.size}, i1 false)")
        self._assign_slot(s.name, s.kind, storage)

    def _store(self, s: Store) -> None:
        value = self.value(s.value)
        kind = s.array.kind.element
        address = self._address(s.array, s.index, kind)
        self.code.effect(f"store {TYPES[kind]} {value}, ptr {address}, align 8, {ALIAS_CLASS[kind]}")

    def _evaluate(self, s: Evaluate) -> None:
        self.value(s.value)

    def _if(self, s: If) -> None:
        then, otherwise, end = (self.code.new_block(stem) for stem in ("then", "else", "endif"))
        self.code.branch(self.value(s.condition), then, otherwise)
        for block, body in ((then, s.then), (otherwise, s.otherwise)):
            self.code.begin(block)
            self._block(body)
            self._fall_to(end)
        self.code.begin(end)

    def _fall_to(self, block: str) -> None:
        if not self.code.is_closed:
            self.code.jump(block)

    def _while(self, s: While) -> None:
        test, body, end = (self.code.new_block(stem) for stem in ("test", "body", "end"))
        self.exits[s.label] = (end, test)
        self.code.begin(test)
        self.code.branch(self.value(s.condition), body, end)
        self.code.begin(body)
        self._block(s.body)
        self._fall_to(test)
        self.code.begin(end)

    def _for(self, s: For) -> None:
        code = self.code
        test, body, again, end = (code.new_block(stem) for stem in ("test", "body", "again", "end"))
        # `continue` goes to the increment, not to the test.
        self.exits[s.label] = (end, again)
        self._assign_slot(s.counter, Kind.INT, self.value(s.start))
        # In the block before the loop: evaluated once, and known in every round because that block precedes all of
        # them.
        stop = self.value(s.stop)
        code.begin(test)
        counter = code.value(f"load i64, ptr {self.slots[s.counter]}")
        code.branch(code.value(f"icmp {'slt' if s.step > 0 else 'sgt'} i64 {counter}, {stop}"), body, end)
        code.begin(body)
        self._assign_slot(s.name, Kind.INT, counter)
        self._block(s.body)
        code.begin(again)
        self._assign_slot(s.counter, Kind.INT, code.value(f"add nsw i64 {counter}, {s.step}"))
        code.jump(test)
        code.begin(end)

    def _labelled_block(self, s: Block) -> None:
        end = self.code.new_block("out")
        self.exits[s.label] = (end, end)
        self._block(s.body)
        self._fall_to(end)
        self.code.begin(end)

    def _break(self, s: Break) -> None:
        self.code.jump(self.exits[s.label][0])

    def _continue(self, s: Continue) -> None:
        self.code.jump(self.exits[s.label][1])

    def _return(self, s: Return) -> None:
        self.code.leave("ret void" if s.value is None else f"ret {TYPES[s.value.kind]} {self.value(s.value)}")

    def _stop(self, s: StopIfFailed) -> None:
        code = self.code
        flag = code.value(f"load i64, ptr %ctx, align 8, {ALIAS_CLASS[Kind.INT]}")
        stop, go_on = code.new_block("stop"), code.new_block("on")
        code.branch(code.value(f"icmp ne i64 {flag}, 0"), stop, go_on)
        code.begin(stop)
        returns = self.function.returns
        # The result of a routine whose callback has raised: nobody sees it, and NaN would show if somebody did.
        default = double(float("nan")) if returns is Kind.FLOAT else ZEROS.get(returns, "")
        code.leave(f"ret {TYPES[returns]} {default}".rstrip())
        code.begin(go_on)

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
