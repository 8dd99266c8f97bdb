"""Device functions: one state of one program, straight-line code in one or several stages.

T is the scalar of inputs, outputs and most values, F that of what a division divides by and all it comes from: the
factors of a mass matrix lose digits that no later care brings back. Scratch holds F.
"""

from __future__ import annotations

from dataclasses import replace

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.identifiers import part
from torseur.computation.codegen.sources.source_module import PREPARED
from torseur.computation.codegen.straight_line import Splines, most_live
from torseur.computation.codegen.targets.cuda.cuda_scalar import CUDA
from torseur.computation.codegen.targets.cuda.stages.cuda_stages import FEW, Plan, plan_stages
from torseur.computation.codegen.targets.cuda.stages.register_spilling import LOAD_AHEAD, Spilling

# A load from device memory takes some hundreds of cycles: it is written early where registers are left to hold its
# value until it is used, and late where they are not.
PLENTY = 300
"""Live values up to which registers are left for loads that come early."""
LOAD_EARLY = 600
"""Operations between such a load and its use: values of the next limb arrive while one is computed."""


class Printer:
    """Prints the device functions of programs, in stages that limbs share up to so many operations."""

    def __init__(self, splines: Splines, few: int = FEW) -> None:
        self.splines, self.few = splines, few
        self.taken = CUDA.reserved | frozenset(splines.names.values())
        self._plans: dict[int, Plan] = {}

    def plan(self, program: Program) -> Plan:
        if id(program) not in self._plans:
            self._plans[id(program)] = plan_stages(program, self.taken, few=self.few)
        return self._plans[id(program)]

    def templates(self, name: str, plan: Plan) -> str:
        """One device function, or one per stage and one that calls them all."""
        if plan.stages == 1:
            return self.template(plan, 0, name)
        arguments = ", ".join([*arrays_of(plan), "stride", *(["scratch"] if plan.scratch else [])])
        calls = [f"  {stage}<T, F>({arguments});" for stage in stage_names(name, plan)]
        size = [f"enum {{ {name}_scratch_size = {plan.scratch} }};"] if plan.scratch else []
        return "\n".join([*size, *self.stages(name, plan), self.head(name, plan), *calls, "}", ""])

    def stages(self, name: str, plan: Plan) -> list[str]:
        """The device functions of the stages."""
        return [self.stage(plan, k, stage) for k, stage in enumerate(stage_names(name, plan))]

    def stage(self, plan: Plan, k: int, name: str, spilling: Spilling | None = None) -> str:
        """The device function of a stage, some of its values in shared memory."""
        return self.template(plan, k, name, spilling)

    def head(self, name: str, plan: Plan) -> str:
        return f"template <class T, class F = T>\nTORSEUR_DEVICE void {name}({', '.join(parameters(plan))}) {{"

    def template(self, plan: Plan, stage: int, name: str, spilling: Spilling | None = None) -> str:
        """A device function. Values are loaded where they are first used and results stored as they are made."""
        body = _Body(plan, stage, self.splines, spilling or Spilling())
        return "\n".join([self.head(name, plan), *(f"  {line}" for line in body.lines()), "}", ""])


def stage_names(name: str, plan: Plan) -> list[str]:
    """The device functions of a program, one per stage."""
    return [name] if plan.stages == 1 else [part(name, k) for k in range(plan.stages)]


def arrays_of(plan: Plan) -> tuple[str, ...]:
    """Identifiers of the inputs, then of the outputs."""
    return plan.layout.arrays


def parameters(plan: Plan) -> list[str]:
    """The arguments of a device function: the arrays at the place of this state, and the step between entries."""
    inputs = plan.layout.program.inputs
    arrays = []
    for i, array in enumerate(arrays_of(plan)):
        const = "const " if i < len(inputs) else ""
        scalar = "F" if i < len(inputs) and inputs[i].name == PREPARED else "T"
        arrays.append(f"{const}{scalar} *TORSEUR_RESTRICT {array}")
    return [*arrays, "long long stride", *(["F *TORSEUR_RESTRICT scratch"] if plan.scratch else [])]


FINE = replace(CUDA, literal=lambda value: f"F({float(value)!r})")


class _Body:
    """The lines of one chunk. A value x that is fine has the name x_f_, and x too where something coarse reads it."""

    def __init__(self, plan: Plan, stage: int, splines: Splines, spilling: Spilling) -> None:
        self.layout, self.splines, self.spilling = plan.layout, splines, spilling
        self.chunk = chunk = plan.layout.chunks[stage]
        self.program = plan.layout.program
        self.results = plan.layout.arrays[len(self.program.inputs) :]
        self.output_places = _output_places(plan)
        self.here = set(chunk.operations)
        # By operation and angle: sine_cosine gives both for the price of the dearer one.
        self.partner: dict[tuple[str, Expr], Expr] = {
            (node.op, node.args[0]): node for node in chunk.operations if node.op in ("sin", "cos")
        }
        self.known: set[Expr] = set()
        self.fine, self.spill_scalar = plan.fine[stage], plan.spill_scalar(stage)
        self.read_coarse = {
            a
            for node in chunk.operations
            if node not in self.fine and self.pair_of(node) not in self.fine
            for a in node.args
        }
        self.names, self.fine_names = self.layout.names, self._fine_names()

    def _fine_names(self) -> dict[Expr, str]:
        """How values are written where F is wanted."""
        prepared = {node for group in self.program.inputs if group.name == PREPARED for node in group.nodes}
        exact = self.fine | prepared
        return {node: f"{name}_f_" if node in exact else f"F({name})" for node, name in self.layout.names.items()}

    def lines(self) -> list[str]:
        """Loads, operations and stores. A load stands some operations before its first use, so that it has arrived."""
        slots = self.spilling.slots
        lines = [f"TORSEUR_SPILL({self.spill_scalar}, {slots})"] if slots else []
        operations = self.chunk.operations
        early = LOAD_AHEAD if slots or most_live(operations) > PLENTY else LOAD_EARLY
        ahead = 0
        for k, node in enumerate(operations):
            while ahead < min(k + early, len(operations)):
                lines += [line for argument in operations[ahead].args for line in self.load(argument)]
                ahead += 1
            lines += [line for value in self.spilling.fetch.get(k, ()) for line in self.fetch_back(value)]
            if node not in self.known:
                lines += self.compute(node)
            lines += [self.spill(value) for value in self.spilling.leave.get(k, ())]
        for node in self.chunk.results:
            if node not in self.here:
                lines += [*self.load(node), *self.store(node)]
        return lines

    def load(self, node: Expr) -> list[str]:
        """Reads a value from outside at its first use."""
        if node in self.known:
            return []
        if node in self.chunk.inputs:
            i, j = self.chunk.inputs[node]
            array = self.layout.arrays[i]
            uniform = self.program.inputs[i].name == PREPARED
            place = f"{array}[{j}]" if uniform else f"{array}[{j} * stride]"
        elif node in self.chunk.restored:
            place = self.waiting_place(node, self.chunk.restored[node])
            place = place if node in self.fine else f"T({place})"
        else:
            return []
        self.known.add(node)
        return self.declare(node, place)

    def declare(self, node: Expr, value: str) -> list[str]:
        """A value under the names that are read."""
        const = "" if node in self.spilling.slot else "const "
        fine = self.fine_names[node]
        if not fine.endswith("_f_"):
            return [f"{const}T {self.names[node]} = {value};"]
        coarse = [f"{const}T {self.names[node]} = T({fine});"] if self.is_read_coarse(node) else []
        return [f"{const}F {fine} = {value};", *coarse]

    def is_read_coarse(self, node: Expr) -> bool:
        return node in self.read_coarse or node in self.chunk.results

    def spill(self, node: Expr) -> str:
        """A value that leaves its register."""
        value = self.fine_names[node] if self.spill_scalar == "F" else self.names[node]
        return f"spilled[{self.spilling.slot[node]} * TORSEUR_BLOCK] = {value};"

    def fetch_back(self, node: Expr) -> list[str]:
        """A value that comes back, under the names that are read."""
        place = f"spilled[{self.spilling.slot[node]} * TORSEUR_BLOCK]"
        fine = self.fine_names[node]
        if not fine.endswith("_f_"):
            return [f"{self.names[node]} = T({place});"]
        return [f"{fine} = {place};", *([f"{self.names[node]} = T({fine});"] if self.is_read_coarse(node) else [])]

    def waiting_place(self, node: Expr, slot: int) -> str:
        """Where a value waits for other stages: among the results if it is one, else in scratch."""
        if node in self.output_places:
            return self.place(*self.output_places[node])
        return f"scratch[{slot} * stride]"

    def place(self, output: int, entry: int) -> str:
        return f"{self.results[output]}[{entry} * stride]"

    def pair_of(self, node: Expr) -> Expr | None:
        """The cosine of a sine's angle or the other way round: they are computed together, fine if one of them is."""
        opposite = {"sin": "cos", "cos": "sin"}.get(node.op)
        return self.partner.get((opposite, node.args[0])) if opposite else None

    def compute(self, node: Expr) -> list[str]:
        language, names = (FINE, self.fine_names) if node in self.fine else (CUDA, self.names)
        other = self.pair_of(node)
        if other is None:
            self.known.add(node)
            return [*self.declare(node, language.operation(node, names, self.splines)), *self.store(node)]
        # The partner is written here too, wherever it stood in the order: `known` lets its own turn pass.
        self.known |= {node, other}
        sine, cosine = (node, other) if node.op == "sin" else (other, node)
        kind = "F" if {sine, cosine} & self.fine else "T"
        own = [f"{self.names[x]}_{'sc'[k]}_" for k, x in enumerate((sine, cosine))]
        argument = FINE.reference(node.args[0], self.fine_names) if kind == "F" else CUDA.reference(node.args[0], names)
        both = f"{kind} {own[0]}, {own[1]}; sine_cosine({argument}, &{own[0]}, &{own[1]});"
        values = [line for x, name in zip((sine, cosine), own, strict=True) for line in self.declare(x, name)]
        return [both, *values, *self.store(sine), *self.store(cosine)]

    def store(self, node: Expr) -> list[str]:
        """Writes a value where it is wanted."""
        coarse = CUDA.reference(node, self.names)
        fine = self.fine_names[node] if node in self.fine else coarse
        stores = [(self.place(i, j), coarse) for i, j in self.chunk.results.get(node, ())]
        if node.is_zero:
            return [f"TORSEUR_ZERO({place});" for place, _ in stores]
        if node in self.chunk.saved and node not in self.output_places:
            stores.append((f"scratch[{self.chunk.saved[node]} * stride]", fine))
        return [f"{place} = {value};" for place, value in stores]


def _output_places(plan: Plan) -> dict[Expr, tuple[int, int]]:
    """A place among the outputs of every result that an operation gives, with all its digits."""
    fine = set().union(*plan.fine)
    results = [
        (node, place) for chunk in plan.layout.chunks for node, places in chunk.results.items() for place in places
    ]
    # Fine values are stored in T among the results: read back from there they would have lost their digits.
    return {node: place for node, place in results if node.args and node not in fine}
