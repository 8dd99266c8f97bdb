"""A function under construction in LLVM's assembly language: instructions, blocks and stack slots."""

from __future__ import annotations

from torseur.computation.codegen.targets.llvm.llvm_spelling import FLAGS


class FunctionBuilder:
    """Collects the lines of one function; values are named %1, %2, ... in order of emission."""

    def __init__(self) -> None:
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.block = "entry"
        self._count = 0
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """True after a jump or return: nothing can follow in this block."""
        return self._closed

    def value(self, instruction: str) -> str:
        """The name of an instruction's result."""
        self._count += 1
        name = f"%v{self._count}"
        self.effect(f"{name} = {instruction}")
        return name

    def effect(self, instruction: str) -> None:
        """An instruction without a result."""
        # A block of LLVM has one terminator, at its end. What follows a return or a break goes into a block that
        # nothing enters, which the passes drop.
        if self._closed:
            self.begin(self.new_block("dead"))
        self.lines.append("  " + instruction)

    def arithmetic(self, op: str, *operands: str) -> str:
        return self.value(f"{op} {FLAGS} double {', '.join(operands)}")

    # All of them stand at the head of the function: an alloca in a loop would take new stack in each round, and `sroa`
    # makes registers of those on entry only.
    def slot(self, type_: str, count: int = 1) -> str:
        """Stack memory, taken once on entry."""
        self._count += 1
        name = f"%v{self._count}"
        self.slots.append(f"  {name} = alloca {type_}, i64 {count}, align 8")
        return name

    def new_block(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, block: str) -> None:
        """Starts a block; control falls into it from an open one."""
        if not self._closed:
            self.jump(block)
        self.lines.append(f"{block}:")
        self.block, self._closed = block, False

    def jump(self, block: str) -> None:
        self.effect(f"br label %{block}")
        self._closed = True

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.effect(f"br i1 {condition}, label %{then}, label %{otherwise}")
        self._closed = True

    def leave(self, instruction: str) -> None:
        """A return."""
        self.effect(instruction)
        self._closed = True

    def close(self) -> None:
        """Ends a function whose last block may not have been left."""
        if not self._closed:
            self.leave("unreachable")

    def text(self, head: str) -> str:
        return "\n".join([f"{head} {{", "entry:", *self.slots, *self.lines, "}", ""])
