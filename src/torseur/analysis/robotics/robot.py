"""A robot to hold: names, limits, and kinematics and dynamics as compiled functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Program, as_expr, evaluate
from torseur.analysis.robotics import robot_functions as programs
from torseur.analysis.robotics.configurations import Configurations, configuration_of, configurations_of
from torseur.analysis.robotics.coordinate_limits import coordinate_limits, largest_forces
from torseur.analysis.robotics.pose_problems import Wishes, inverse_kinematics
from torseur.analysis.robotics.reaching import PoseSearch, Reach, along_path
from torseur.analysis.robotics.robot_functions import axes_of, order_of
from torseur.computation.codegen import bake
from torseur.computation.functions.frameworks.array_function import array_function
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.mechanism_functions import PARAMETERS
from torseur.derivation.equations import Equations
from torseur.derivation.equations.parameter_values import motion_values, values_for
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import resolve
from torseur.description.library.mechanism_files import load
from torseur.description.mechanism import EARTH_NAME, Frame, Mechanism
from torseur.description.readers import RobotFile, open_robot
from torseur.edges.arguments import explain_arguments
from torseur.edges.file_names import is_robot
from torseur.errors import MechanismError, TorseurError, UnsupportedError, unknown_name

Function = Callable[..., Any]


class _Kept(dict[Any, Any]):
    """Functions by what they are of, each made when it is first asked for; a lookup costs what one in a dict costs."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, key: Any) -> Any:
        self[key] = made = self.make(key)
        return made


class Robot:
    """A robot file (URDF, MJCF), a description, or a mechanism, with its functions.

    robot = ts.Robot("panda.urdf", damping=False); robot.rnea(q, v, a). Options are those of `read_robot`. Arrays are
    (n,) for one state or (N, n) for N of them; results have the states first. Each function is compiled when it is
    first asked for. With float64 arrays of one state a call costs a tenth of a microsecond beside the computation.

    q has the coordinates in the order of `coordinate_names`, v, a and tau have the speeds' order, `speed_names`. A base
    that floats has the coordinates x y z and a quaternion w x y z, and its velocity in its own axes. Forces that the
    file describes (damping, friction, springs, actuators) act in rnea and aba: tau is what is needed beside them.

    Parameters of the mechanism have the values it gives; with live=True `parameters` is an array that may be changed.
    """

    def __init__(self, source: str | Path | Mechanism | RobotFile, *, live: bool = False, **options: Any) -> None:
        self.file: RobotFile | None = None
        if isinstance(source, (Mechanism, RobotFile)) and options:
            raise MechanismError(f"{', '.join(options)}: options are for files; this is a {type(source).__name__}.")
        if isinstance(source, Mechanism):
            self.mechanism = source
        elif isinstance(source, RobotFile) or is_robot(str(source)):
            self.file = source if isinstance(source, RobotFile) else open_robot(source, **options)
            self.mechanism = self.file.mechanism
        else:
            self.mechanism = load(source, **options)
        self.is_live = live

    def __reduce__(self) -> tuple[Any, ...]:
        """Compiled again, or taken from the cache, where it arrives."""
        return _restore, (self.file or self.mechanism, self.is_live, self.__dict__.get("parameters"))

    def __repr__(self) -> str:
        return f"Robot({self.mechanism.name!r}, nq={self.nq}, nv={self.nv})"

    @cached_property
    def equations(self) -> Equations:
        return derive(self.mechanism)

    @property
    def coordinate_names(self) -> list[str]:
        return self.equations.layout.coordinate_names

    @property
    def speed_names(self) -> list[str]:
        return self.equations.layout.speed_names

    @property
    def nq(self) -> int:
        return len(self.equations.layout.coordinates)

    @property
    def nv(self) -> int:
        return len(self.equations.layout.speeds)

    @cached_property
    def frame_names(self) -> list[str]:
        """Bodies and named frames: what `fk` and `jacobian` take. Sites of MJCF files are among them."""
        rotors = self.file.rotors if self.file is not None else ()
        return [b.name for b in self.mechanism.bodies if b.name not in rotors] + [n for n, _ in self.mechanism.frames]

    @cached_property
    def parameters(self) -> Array:
        """Values of the mechanism's parameters, in the order of `parameter_names`; used as they are where live."""
        values = motion_values(self.equations, {})
        return np.array([float(values[name]) for name in self.parameter_names])

    @property
    def parameter_names(self) -> list[str]:
        return self.equations.layout.parameter_names

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """(lower, upper) of every coordinate as the file says, infinite where it does not.

        A joint that follows another limits that one.
        """
        return coordinate_limits(self.equations, self.file.limits if self.file is not None else ())

    @cached_property
    def efforts(self) -> dict[str, float]:
        """The largest force (N, N*m) of the actuators of a joint, by its coordinate, where the file gives one.

        ts.with_motors(robot.mechanism, limits=robot.efforts) has motors that give no more.
        """
        return largest_forces(self.mechanism, self.file.limits if self.file is not None else ())

    @cached_property
    def neutral(self) -> Array:
        """The configuration in which the mechanism starts: zero unless it says otherwise, unturned quaternions."""
        layout, tree, values = self.equations.layout, self.equations.tree, dict(self.mechanism.initial)
        formulas = [as_expr(values.get(name, 0)) for name in layout.coordinate_names]
        formulas = resolve(self.mechanism, dict(tree.definitions), formulas)
        q = np.array(evaluate(formulas, dict(zip(layout.parameters, self.parameters, strict=True))), dtype=float)
        for link in tree.links:
            slots = [layout.coordinates.index(x) for x in link.symbols.quaternion]
            if slots and not q[slots].any():
                q[slots[0]] = 1.0
        return q

    # Functions of q, v and more: each attribute is the compiled function itself, so that a call goes straight into it.

    @cached_property
    def rnea(self) -> Function:
        """rnea(q, v, a): generalised forces that give the accelerations a (recursive Newton-Euler)."""
        return self._function_for("rnea", "inverse_dynamics")

    @cached_property
    def aba(self) -> Function:
        """aba(q, v, tau): accelerations; a robot with loops has `constrained_dynamics`."""
        return self._function_for("aba", "forward_dynamics")

    @cached_property
    def constrained_dynamics(self) -> Function:
        """constrained_dynamics(q, v, tau): accelerations and multipliers of loops and constraints."""
        return self._function_for("constrained_dynamics", "constrained_forward_dynamics")

    @cached_property
    def crba(self) -> Function:
        """crba(q): the mass matrix (composite rigid bodies)."""
        return self._function_for("crba", "mass_matrix")

    @cached_property
    def coriolis(self) -> Function:
        """coriolis(q, v): C with C v the centrifugal and Coriolis forces and M' - 2 C skew."""
        return self._function_for("coriolis", "coriolis_matrix")

    @cached_property
    def gravity(self) -> Function:
        """gravity(q): generalised forces that hold the robot at rest against gravity."""
        return self._function_for("gravity", "gravity")

    @cached_property
    def energy(self) -> Function:
        """energy(q, v): kinetic and potential energy."""
        return self._function_for("energy", "energies")

    @cached_property
    def rnea_derivatives(self) -> Function:
        """rnea_derivatives(q, v, a): dτ/dq, dτ/dv, dτ/da = M; dq is along the speeds (three per quaternion)."""
        return self._function_for("rnea_derivatives", "inverse_dynamics/displacement,v,vdot")

    @cached_property
    def aba_derivatives(self) -> Function:
        """aba_derivatives(q, v, tau): da/dq, da/dv, da/dτ = M⁻¹; dq is along the speeds."""
        return self._function_for("aba_derivatives", "forward_dynamics/displacement,v,tau")

    @cached_property
    def regressor(self) -> Function:
        """regressor(q, v, a): Y with τ = Y π, ten columns for each of `regressor_bodies`, without loads and rotors."""
        names = self.regressor_bodies
        links = [k for k, link in enumerate(self.equations.tree.links) if link.name in names]
        return self._compile("regressor", programs.regressor_program(self.equations, links))

    @cached_property
    def regressor_bodies(self) -> list[str]:
        """The links of the regressor; each has m, m c (x y z), Ixx, Ixy, Iyy, Ixz, Iyz, Izz at its joint's frame."""
        rotors = self.file.rotors if self.file is not None else ()
        return [link.name for link in self.equations.tree.links if link.name not in rotors]

    @cached_property
    def com(self) -> Function:
        """com(q): the mass centre in the earth."""
        return self._compile("com", programs.mass_centre_program(self.equations))

    def centroidal(self, q: Any, v: Any, order: str = "linear") -> Array:
        """Momentum and angular momentum about the mass centre, in earth axes (order: "linear" or "angular" first)."""
        return self._momenta[order](q, v)

    def centroidal_matrix(self, q: Any, order: str = "linear") -> Array:
        """A(q) with A v the centroidal momentum."""
        return self._momentum_matrices[order](q)

    def fk(self, frame: str | int, q: Any) -> Array:
        """The place of a frame or body, by name or by number in `frame_names`, in the earth: a matrix (4, 4)."""
        return self._poses[frame](q)

    def jacobian(self, frame: str | int, q: Any, axes: str = "earth", order: str = "linear") -> Array:
        """J (6, nv) with J v the velocity of the frame's origin and its angular velocity.

        axes  "earth" (or "world"): along the earth's axes (Pinocchio's LOCAL_WORLD_ALIGNED); "frame" (or "local")
        order "linear": rows of the velocity first (Pinocchio); "angular": those of the angular velocity first
        """
        # The usual words are looked up by one name: a third of the call would be the lookup of all three.
        if axes == "earth" and order == "linear":
            return self._usual_jacobians[frame](q)
        return self._jacobians[frame, axes, order](q)

    def jacobian_rate(self, frame: str | int, q: Any, v: Any, axes: str = "earth", order: str = "linear") -> Array:
        """dJ/dt of the matrix that `jacobian` gives with the same words."""
        return self._jacobian_rates[frame, axes, order](q, v)

    @explain_arguments
    def ik(
        self,
        targets: Mapping[str, Any],
        start: Any = None,
        *,
        weights: Mapping[str, float] | None = None,
        priorities: Mapping[str, int] | None = None,
        posture: Any = None,
        starts: int = 100,
        tolerance: float = 1e-8,
        seed: int = 0,
    ) -> Reach:
        """Coordinates within `limits` that put frames where they are wanted: robot.ik({"hand": pose}).

        A target is a position (3,), a rotation (3, 3) or both (4, 4) in the earth, or N of them for N problems at once.
        `start` (at first `neutral`) is tried first, then random ones, `starts` in all. `weights` of frames multiply
        their errors. Frames with `priorities` 1, 2, ... (0 unless given) come after the others: their targets are
        approached only as far as those before leave motions free. What then is free moves towards the `posture`. Loops
        are closed with the first targets, quaternions keep length one, and what no speed moves stays as in `start`.
        """
        wanted = None if posture is None else configuration_of("posture", posture, self.coordinate_names, self.neutral)
        wishes = Wishes(dict(weights or {}), dict(priorities or {}), wanted, starts, tolerance, seed)
        given = self.neutral if start is None else start
        begin = configuration_of("start", given, self.coordinate_names, self.neutral)
        return inverse_kinematics(self._searches.__getitem__, targets, begin, wishes)

    @explain_arguments
    def ik_path(self, targets: Mapping[str, Any], start: Any = None, **options: Any) -> Reach:
        """Coordinates along a path of N targets, each from the one before, so that the motion is continuous.

        The first target may take several starts; one that the path does not reach stops there, `converged` being
        false from then on.
        """
        return along_path(self.ik, targets, start, options)

    @cached_property
    def _searches(self) -> _Kept:
        """The searches of inverse kinematics, by the frames that have targets."""

        def make(frames: tuple[str, ...]) -> PoseSearch:
            kinematics = programs.place_program(self.equations, [self.frame(name) for name in frames])
            moved = programs.displaced_program(self.equations)
            return PoseSearch(
                self._checked("ik", kinematics), self._checked("ik", moved), self._configurations, self.parameters
            )

        return _Kept(make)

    @cached_property
    def _configurations(self) -> Configurations:
        """How inverse kinematics moves the coordinates."""
        return configurations_of(self.equations, self.limits, lambda program: self._compile("ik", program))

    def contact_dynamics(
        self, frames: Sequence[str], q: Any, v: Any, tau: Any, *, turns: bool = False
    ) -> tuple[Array, Array]:
        """Accelerations of a robot whose frames are held at their places, and the forces there, in earth axes.

        M a = τ - b + Q + Jᵀ f, J a = -J' v. A frame keeps its point (three forces), with turns=True its rotation too
        (force, then moment). Where points hold the robot more than once the forces have the least sum of squares.
        """
        if self.equations.is_constrained:
            raise UnsupportedError(
                f"'{self.mechanism.name}' has loops: describe the contacts as joints of the mechanism."
            )
        mass, free, jacobian, rates = self._contacts[tuple(frames), turns](q, v)
        free = free + np.asarray(tau, dtype=float)
        # A = J M⁻¹ Jᵀ, A f = -J' v - J M⁻¹ free.
        alone = np.linalg.solve(mass, free[..., None])[..., 0]
        yielding = np.linalg.solve(mass, np.swapaxes(jacobian, -1, -2))
        gap = -rates - np.einsum("...ij,...j->...i", jacobian, alone)
        force = np.einsum("...ij,...j->...i", np.linalg.pinv(jacobian @ yielding, hermitian=True), gap)
        return alone + np.einsum("...ij,...j->...i", yielding, force), force

    def frame(self, name: str | int) -> Frame:
        """The frame of a name, or of a number in `frame_names`: a named frame (a site), or a body's own."""
        if not isinstance(name, str):
            if name not in range(len(self.frame_names)):
                raise TorseurError(f"frame {name}: expected a name, or a number below {len(self.frame_names)}.")
            return self.frame(self.frame_names[name])
        named = dict(self.mechanism.frames)
        if name in named:
            return named[name]
        if name not in self.frame_names and name != EARTH_NAME:
            raise TorseurError(unknown_name("frame or body", name, self.frame_names))
        return Frame(name)

    def _function_for(self, name: str, request: str) -> Function:
        if self.equations.is_constrained and request.startswith(("inverse_dynamics", "forward_dynamics")):
            raise UnsupportedError(
                f"{name} is for trees; '{self.mechanism.name}' has loops or constraints: ask for constrained_dynamics."
            )
        return self._compile(name, programs_of(self.equations, [request])[0])

    @cached_property
    def _poses(self) -> _Kept:
        return _Kept(lambda frame: self._compile("fk", programs.pose_program(self.equations, self.frame(frame))))

    @cached_property
    def _jacobians(self) -> _Kept:
        return _Kept(lambda words: self._of_frame("jacobian", programs.jacobian_program, *words))

    @cached_property
    def _usual_jacobians(self) -> _Kept:
        return _Kept(lambda frame: self._jacobians[frame, "earth", "linear"])

    @cached_property
    def _jacobian_rates(self) -> _Kept:
        return _Kept(lambda words: self._of_frame("jacobian_rate", programs.jacobian_rate_program, *words))

    @cached_property
    def _momenta(self) -> _Kept:
        return _Kept(
            lambda order: self._compile("centroidal", programs.momentum_program(self.equations, order_of(order)))
        )

    @cached_property
    def _momentum_matrices(self) -> _Kept:
        make = programs.momentum_matrix_program
        return _Kept(lambda order: self._compile("centroidal_matrix", make(self.equations, order_of(order))))

    @cached_property
    def _contacts(self) -> _Kept:
        def make(held: tuple[tuple[str, ...], bool]) -> Function:
            points = [(self.frame(name), held[1]) for name in held[0]]
            return self._compile("contact_dynamics", programs.contact_program(self.equations, points))

        return _Kept(make)

    def _of_frame(self, name: str, make: Callable[..., Program], frame: str | int, axes: str, order: str) -> Function:
        return self._compile(name, make(self.equations, self.frame(frame), axes_of(axes), order_of(order)))

    def _compile(self, name: str, program: Program) -> Function:
        names = {"q": self.coordinate_names, **dict.fromkeys(("v", "vdot", "tau"), self.speed_names)}
        program = self._checked(name, program)
        has_parameters = any(group.name == PARAMETERS for group in program.inputs)
        shared = {PARAMETERS: self.parameters} if has_parameters else None
        return array_function(program, names, f"{name} of '{self.mechanism.name}'", shared, called={"vdot": "a"})

    def _checked(self, name: str, program: Program) -> Program:
        """The program with the parameters' values in it unless they are live; of q, v, a and forces only."""
        known = ("q", "v", "vdot", "tau", "change", PARAMETERS)
        extra = [group.name for group in program.inputs if group.name not in known]
        if extra:
            raise UnsupportedError(
                f"{name} of '{self.mechanism.name}' depends on {', '.join(extra)} too (time, open functions). "
                "Compile it: ts.compile."
            )
        if not self.is_live and any(group.name == PARAMETERS for group in program.inputs):
            values_for(self.equations, program.nodes, {})  # which names those that nobody has given
            program = bake(program, {PARAMETERS: np.where(np.isnan(self.parameters), 0.0, self.parameters).tolist()})
        return program


def _restore(source: Mechanism | RobotFile, live: bool, parameters: Array | None) -> Robot:
    robot = Robot(source, live=live)
    if parameters is not None:
        robot.parameters[:] = parameters
    return robot
