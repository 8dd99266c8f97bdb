"""The generation algorithm of Papegay's slides step by step, as statements: blocks, passage, substitution, loops."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.derivation.equations import Equations
from torseur.derivation.equations.elimination import ReducedEquations
from torseur.derivation.equations.terms.short_sum import HOPELESS
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.derivation.formalisms.ingredients.generation_steps import GenerationSteps
from torseur.derivation.tree import GROUND
from torseur.errors import UnsupportedError
from torseur.presentation.levels.forms.matrix_nodes import ZERO, add, equal, minus, times, transpose
from torseur.presentation.levels.forms.reduced_form import reduced_statements
from torseur.presentation.levels.levels import Part, matrix_level, part_statements
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, Over, Power
from torseur.presentation.typesetting.markup import escape

IDENTITY = Name("Id", bold=True)
INVERSE = Name("-1")  # not a number, which would be set as a fraction bar
MOST_OPERATIONS = 800  # of constraints that are solved in formulas without being asked to
PSI, MASS = Name("Psi", bold=True), Name("MMassMax", bold=True)


@dataclass(frozen=True)
class Step:
    """One step of the algorithm: its title, what is done in it, and its statements."""

    title: str
    account: str
    statements: tuple[Statement, ...]


def generation_steps(equations: Equations, independent: Collection[str] = ()) -> list[Step]:
    """The steps from the description to the equations, in the order of the slides."""
    if not equations.mechanism.bodies:
        raise UnsupportedError(
            f"derivation: '{equations.mechanism.name}' has no bodies, and the algorithm begins with their masses. "
            "`equations` writes the equations of its states."
        )
    read = equations.as_read
    work = _Generation(read, GenerationSteps(read))
    steps = [work.structure(), work.joints(), work.mass(), work.second_member(), work.forces()]
    if read.constraints:
        steps.append(work.constraints())
    steps += [work.passage(), work.substitution(equations)]
    return [*steps, work.loops(equations, independent)] if read.constraints else steps


class _Generation:
    def __init__(self, equations: Equations, steps: GenerationSteps) -> None:
        self.equations, self.steps = equations, steps
        self.links = equations.tree.links

    def _bold(self, letter: str, i: int) -> Name:
        return Name(f"{letter}_{i + 1}", bold=True)

    def _has_mass(self, i: int) -> bool:
        return not vanishes(as_expr(self.links[i].inertia.mass))

    def _offset(self, i: int) -> list[Expr]:
        """From the frame's origin to the mass centre, in the body's axes."""
        inertia = self.links[i].inertia
        return [as_expr(h) / as_expr(inertia.mass) for h in inertia.moment] if self._has_mass(i) else [as_expr(0)] * 3

    def _is_offset(self, i: int) -> bool:
        return any(not vanishes(as_expr(h)) for h in self.links[i].inertia.moment)

    def _inertia(self, i: int) -> list[list[Expr]]:
        m = self.links[i].inertia.matrix
        rows = [[m.xx, m.xy, m.xz], [m.xy, m.yy, m.yz], [m.xz, m.yz, m.zz]]
        return [[as_expr(x) for x in row] for row in rows]

    def _has_inertia(self, i: int) -> bool:
        return any(not vanishes(x) for row in self._inertia(i) for x in row)

    # 1 and its preliminaries

    def structure(self) -> Step:
        listed = [equal("N", Name("N"), Number(Fraction(self.steps.count)))]
        listed += [
            Statement(f"S_{i + 1}", self._bold("S", i), ((ZERO,),), "name", remark=Remark(f"body '{link.name}'"))
            for i, link in enumerate(self.links)
        ]
        parts: list[Part] = []
        for i in range(self.steps.count):
            inertia = self.links[i].inertia
            parts.append((f"mu_{i + 1}", [(as_expr(inertia.mass),)], "scalar"))
            if self._is_offset(i):
                parts.append((f"V{i + 1}T_{i + 1}", [(x,) for x in self._offset(i)], "vector"))
            if self._has_inertia(i):
                parts.append((f"MIo_{i + 1}", self._inertia(i), "matrix"))
        turns: list[Part] = [(f"M0R_0_{i + 1}", self.steps.rotation(i), "table") for i in range(self.steps.count)]
        listed += _with_remarks(part_statements(self.equations, parts, HOPELESS), "declared")
        listed += _with_remarks(part_statements(self.equations, turns, HOPELESS), "deduced")
        for i in range(self.steps.count):
            listed += self._mass_centre_and_inertia(i)
        return Step("Structure", "bodies, what the description assigns, and what follows from it", tuple(listed))

    def _mass_centre_and_inertia(self, i: int) -> list[Statement]:
        """What follows for the vector to the mass centre and for the inertia, in earth axes."""
        turn, deduced = self._bold("M0R_0", i), Remark("deduced")
        offset, inertia = self._bold("V0T", i), self._bold("M0Io", i)
        place: Node = times(turn, Name(f"V{i + 1}T_{i + 1}", bold=True)) if self._is_offset(i) else ZERO
        tensor: Node = times(turn, self._bold("MIo", i), transpose(turn)) if self._has_inertia(i) else ZERO
        return [equal(offset.text, offset, place, deduced), equal(inertia.text, inertia, tensor, deduced)]

    def joints(self) -> Step:
        listed = []
        for i, link in enumerate(self.links):
            carrier = "the earth" if link.parent == GROUND else f"S_{link.parent + 1}"
            speeds = [self.equations.layout.speed_names[k] for k in link.slots]
            about = f"main joint '{link.joint.name}': S_{i + 1} on {carrier}, by {', '.join(speeds) or 'nothing'}"
            listed.append(Statement(link.joint.name, Name(link.joint.name), ((ZERO,),), "name", remark=Remark(about)))
        owners = dict.fromkeys(c.owner for c in self.equations.constraints)
        listed += [
            Statement(
                owner, Name(owner), ((ZERO,),), "name", remark=Remark("complementary: it closes a loop or constrains")
            )
            for owner in owners
        ]
        return Step(
            "Main and complementary joints", "a spanning tree of main joints; the others close loops", tuple(listed)
        )

    # 2 to 5

    def mass(self) -> Step:
        count = self.steps.count
        rows = tuple(tuple(self._bold("MMassMax", i) if i == j else ZERO for j in range(count)) for i in range(count))
        listed = [Statement("MMassMax", MASS, rows, "table", remark=Remark("block diagonal, one block per body"))]
        for i in range(count):
            mu, tilde = Name(f"mu_{i + 1}"), Over("~", self._bold("V0T", i))
            has, off = self._has_mass(i), self._has_mass(i) and self._is_offset(i)
            first: Node = times(mu, IDENTITY) if has else ZERO
            cross: Node = times(mu, tilde) if off else ZERO
            tensor: Node = self._bold("M0Io", i) if self._has_inertia(i) else ZERO
            block = ((first, minus(cross) if off else ZERO), (cross, tensor))
            name = self._bold("MMassMax", i)
            listed.append(Statement(name.text, name, block, "table", remark=Remark("of v(O) and omega, in earth axes")))
        return Step("Initial mass matrix", "of independent bodies, q_i = (v(O_i), omega_i)", tuple(listed))

    def second_member(self) -> Step:
        listed = []
        for i in range(self.steps.count):
            w = Over("~", self._bold("omega", i))
            off = self._has_mass(i) and self._is_offset(i)
            upper: Node = minus(times(Name(f"mu_{i + 1}"), w, w, self._bold("V0T", i))) if off else ZERO
            turning = times(w, self._bold("M0Io", i), self._bold("omega", i))
            name = self._bold("S", i)
            rows = ((upper,), (minus(turning) if self._has_inertia(i) else ZERO,))
            listed.append(Statement(name.text, name, rows, "vector"))
        return Step("Initial second member", "centrifugal and gyroscopic terms", tuple(listed))

    def forces(self) -> Step:
        listed = []
        for i in range(self.steps.count):
            mu, gravity, name = Name(f"mu_{i + 1}"), Name("V0g", bold=True), self._bold("F", i)
            weight: Node = times(mu, gravity) if self._has_mass(i) else ZERO
            off = self._has_mass(i) and self._is_offset(i)
            moment: Node = times(mu, Over("~", self._bold("V0T", i)), gravity) if off else ZERO
            rows = ((add(weight, self._bold("f", i)),), (add(moment, self._bold("m", i)),))
            listed.append(Statement(name.text, name, rows, "vector"))
        about = "weight (V0g is gravity), then the force f and the moment m about O of the loads on each body"
        return Step("Initial forces", about, tuple(listed))

    def constraints(self) -> Step:
        lines: list[Part] = [("C", [c.row for c in self.equations.constraints], "table")]
        listed = part_statements(self.equations, lines, HOPELESS)
        delta = Name("DeltaV", bold=True)
        form = equal("DeltaV", times(delta, PSI), Name("C", bold=True), Remark("rates of the complementary joints"))
        about = "M q' = S + F - DeltaV^T Lambda: the rates of the complementary joints, along the speeds of the tree"
        return Step("Constraint matrix", about, (form, *listed))

    # 6 and 7

    def passage(self) -> Step:
        listed: list[Statement] = []
        names = self.equations.layout.speed_names
        for j in self.steps.breadth_first:
            link = self.links[j]
            parts: list[Part] = []
            if link.parent != GROUND:
                i = link.parent
                lever = Name(f"V0T_{i + 1}_{j + 1}", bold=True)
                carried = Name(f"Psi_{j + 1}_{i + 1}", bold=True)
                block: tuple[tuple[Node, ...], ...] = ((IDENTITY, minus(Over("~", lever))), (ZERO, IDENTITY))
                listed.append(Statement(carried.text, carried, block, "table", remark=Remark(f"of S_{i + 1}")))
                parts.append((lever.text, [(x,) for x in self.steps.lever(j)], "vector"))
            parts.append((f"Psi_{j + 1}_{j + 1}", self.steps.own_columns(j), "table"))
            written = part_statements(self.equations, parts, HOPELESS)
            speeds = ", ".join(names[k] for k in link.slots)
            *before, own = written
            listed += [*before, replace(own, remark=Remark(f"columns: {speeds}"))]
        listed.append(self._product())
        about = "q_j = Psi_j_i q_i + Psi_j_j v_j, breadth first; Psi is the product"
        if self.steps.is_driven:
            about += ", and d the velocity that joints have which time drives: q = Psi v + d"
        return Step("Elimination of the multipliers", about, tuple(listed))

    def _product(self) -> Statement:
        """Ψ by blocks that are not evaluated: body by row, joint by column."""
        count, tree = self.steps.count, self.equations.tree
        rows = []
        for i in range(count):
            row: list[Node] = [ZERO] * count
            factors: list[Node] = []
            k = i
            while k != GROUND:
                row[k] = times(*factors, Name(f"Psi_{k + 1}_{k + 1}", bold=True))
                if tree.parent(k) != GROUND:
                    factors.append(Name(f"Psi_{k + 1}_{tree.parent(k) + 1}", bold=True))
                k = tree.parent(k)
            rows.append(tuple(row))
        order = " ".join(f"Psi_{j + 1}" for j in reversed(self.steps.breadth_first))
        return Statement(
            "Psi", PSI, tuple(rows), "table", remark=Remark(f"{order}: a row per body, a column per joint")
        )

    def substitution(self, equations: Equations) -> Step:
        rate, speed = Name("v", 1, True), Name("v", bold=True)
        drift = times(Name("Psi", 1, True), speed)
        carried = add(drift, Name("d", 1, True)) if self.steps.is_driven else drift
        forces = add(Name("S", bold=True), Name("F", bold=True), minus(times(MASS, carried)))
        form = equal("tree", times(transpose(PSI), MASS, PSI, rate), times(transpose(PSI), forces))
        meaning = equal("M", Name("M", bold=True), times(transpose(PSI), MASS, PSI), Remark("written out below"))
        about = "everything put in: M v' + b = Q" + (" - C^T lambda" if self.equations.constraints else "")
        return Step("Substitutions", about, (form, meaning, *matrix_level(equations)))

    # 8

    def loops(self, equations: Equations, independent: Collection[str]) -> Step:
        about = "partitioned, v = N v_in, and projected (course notes of document 001)"
        size = sum(1 for _ in live_nodes([e for c in self.equations.constraints for e in (*c.row, c.gamma)]))
        if size > MOST_OPERATIONS and not independent:
            about += f"; {size} operations of C are too many to solve: name speeds (--independent) to try all the same"
            return Step("Loop equations", about, (_partition(), *_models(Name("N", bold=True))))
        try:
            reduced = equations.without_multipliers(independent)
        except UnsupportedError as problem:
            refused = Statement("", Name("N", bold=True), ((ZERO,),), "name", remark=Remark(str(problem)))
            return Step("Loop equations", about, (refused,))
        n = Name("N", bold=True)
        parts: list[Part] = [("N", reduced.projection, "table")]
        parts.append(("M_in", reduced_mass_matrix(reduced), "matrix"))
        listed = part_statements(self.equations, parts, HOPELESS)
        speeds = ", ".join(str(v.name) for v in reduced.independent)
        remarks = {"N": Remark(f"v by {speeds}"), "M_in": Remark("N^T M N")}
        written = [replace(one, remark=remarks.get(one.name, one.remark)) for one in listed]
        return Step("Loop equations", about, (*written, *_models(n), *reduced_statements(equations, independent)))


def _partition() -> Statement:
    """N by blocks, which are not written out."""
    dependent = minus(times(Power(Name("C_de", bold=True), INVERSE), Name("C_in", bold=True)))
    said = Remark("of the dependent and the independent columns of C")
    return Statement("N", Name("N", bold=True), ((dependent,), (IDENTITY,)), "table", remark=said)


def reduced_mass_matrix(reduced: ReducedEquations) -> list[list[Expr]]:
    """Nᵀ M N."""
    mass, n = reduced.equations.mass_matrix, reduced.projection
    size, count = len(mass), len(reduced.independent)
    weighed = [[sum((row[k] * n[k][j] for k in range(size)), as_expr(0)) for j in range(count)] for row in mass]
    return [
        [sum((n[k][i] * weighed[k][j] for k in range(size)), as_expr(0)) for j in range(count)] for i in range(count)
    ]


def _models(n: Name) -> list[Statement]:
    """The reduced direct and inverse models, and the projector, as matrices."""
    mass, rate, drift = Name("M", bold=True), Name("v_in", 1, True), Name("N", 1, True)
    bias, loads, c, one = Name("b", bold=True), Name("Q", bold=True), Name("C", bold=True), IDENTITY
    speeds = times(drift, Name("v_in", bold=True))
    inertia = times(transpose(n), mass, n, rate)
    rest = add(loads, minus(bias), minus(times(mass, speeds)))
    inverse = Power(mass, INVERSE)
    middle = Power(times(c, inverse, transpose(c)), INVERSE)
    projector = add(one, minus(times(transpose(c), middle, c, inverse)))
    return [
        equal("direct", inertia, times(transpose(n), rest), Remark("direct model; where C v is not driven by time")),
        equal(
            "inverse", Name("tau", bold=True), add(inertia, minus(times(transpose(n), rest))), Remark("inverse model")
        ),
        equal("P", Name("P", bold=True), projector, Remark("oblique projector, P C^T = 0")),
        equal(
            "projected",
            times(Name("P", bold=True), add(times(mass, Name("v", 1, True)), bias, minus(loads))),
            ZERO,
            Remark("of deficient rank: completed by C v' = gamma"),
        ),
    ]


def _with_remarks(listed: list[Statement], meaning: str) -> list[Statement]:
    return [one if one.auxiliary else replace(one, remark=Remark(meaning)) for one in listed]


def write_generation(equations: Equations, form: str = "text", independent: Collection[str] = ()) -> str:
    """All steps in one format: "text", "latex", "tex", "mathml", "omml", or "html", a page whose steps fold."""
    from torseur.presentation.levels.write_equations import write_statements

    steps = generation_steps(equations, independent)
    if form == "html":
        return _page(equations, steps)
    opening, closing = {"text": ("(* ", " *)"), "latex": ("% ", ""), "tex": ("% ", "")}.get(form, ("<!-- ", " -->"))
    return "\n\n".join(
        f"{opening}{k}. {step.title}: {step.account}{closing}\n{write_statements(equations, step.statements, form)}"
        for k, step in enumerate(steps, 1)
    )


def _page(equations: Equations, steps: list[Step]) -> str:
    """A page with one foldable section per step, formulas in MathML."""
    from torseur.presentation.levels.write_equations import write_statements

    mechanism = equations.mechanism
    title = escape(f"{mechanism.meaning or mechanism.name}: the equations, step by step")
    sections = "\n".join(
        f"<details{' open' if k == 1 else ''}><summary>{k}. {escape(step.title)}</summary>\n"
        f"<p>{escape(step.account)}</p>\n{write_statements(equations, step.statements, 'mathml')}\n</details>"
        for k, step in enumerate(steps, 1)
    )
    opening = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    head = f"{opening}<title>{title}</title>\n<style>{_STYLE}</style></head>"
    return f"{head}\n<body><h1>{title}</h1>\n{sections}\n</body></html>\n"


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "summary{font-weight:600;cursor:pointer;padding:.4rem 0}details{border-top:1px solid #ccc;overflow-x:auto}"
    "math{display:block;margin:.5rem 0 .5rem 1rem;text-align:left}"
)
