"""A person steps on a rigid floor: weight to the left foot, right foot up and down again, and standing on both.

Human36 with four points of contact under each foot, in time steps of 1 ms. Springs hold the joints at angles that a
controller sets every 5 ms, from the wanted and the present place of the pelvis. Checked: contact forces and weight
change the momentum in every step as the motion says, the right foot leaves the floor and lands, and at the end both
feet carry the weight. Not proven: that people step so; the balance is slow, the mass centre over a foot all the time.
`python benchmarks/try_human_steps.py`, about a minute.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import torseur as ts
from torseur import biomechanics

STEP, SECONDS, MASS, G = 1e-3, 4.5, 63.0, 9.81
HIP_HEIGHT, HALF_WIDTH, FORWARD = 0.87, 0.087, 0.045  # m: of the ankles' axis, of the hips, mass centre before ankles
STRONG = ("hip", "knee", "ankle", "lumbar", "thoracic")


def smooth(t: float, start: float, end: float) -> float:
    """From 0 to 1, twice differentiable."""
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s * s)


def controlled_person() -> tuple[ts.Mechanism, list[str]]:
    """A person with feet whose joints are drawn to wanted angles, and the names of these."""
    person = biomechanics.with_feet(ts.human36(1.74, MASS))
    wanted, springs = [], []
    for joint in person.joints[1:]:
        for q in joint.coordinates:
            k = 3000.0 if any(part in q.name for part in STRONG) else 10.0 if "wrist" in q.name else 100.0
            angle = ts.parameter(f"{q.name}_wanted", 0.0, "rad")
            wanted.append(angle)
            springs.append(
                ts.coordinate_spring(
                    f"hold_{q.name}", joint.name, q.name, stiffness=k, rest=angle.symbol, damping=0.05 * k
                )
            )
    parameters = (*person.parameters, *wanted)
    return replace(person, loads=tuple(springs), parameters=parameters), [p.name for p in wanted]


def stepping(names: list[str], coordinates: tuple[str, ...]) -> ts.Controller:
    x, z, count = coordinates.index("pelvis_x"), coordinates.index("pelvis_z"), len(coordinates)

    def angles(t: float, state: np.ndarray) -> dict[str, float]:
        """The pelvis goes to the left and back as a parallelogram of both legs; meanwhile the right leg is lifted."""
        sideways = -HALF_WIDTH * (smooth(t, 0.3, 1.7) - smooth(t, 2.7, 4.1))
        lean = -(sideways + 0.5 * (sideways - state[z]) - 0.1 * state[count + z]) / HIP_HEIGHT
        ahead = FORWARD * smooth(t, 0.0, 1.0)
        forward = (ahead + 0.5 * (ahead - state[x]) - 0.1 * state[count + x]) / HIP_HEIGHT
        lifted = smooth(t, 1.8, 2.1) - smooth(t, 2.2, 2.6)
        out = dict.fromkeys(names, 0.0)
        for side, sign in (("r", 1.0), ("l", -1.0)):
            out[f"{side}_hip_adduction_wanted"] = -sign * lean
            out[f"{side}_ankle_inversion_wanted"] = sign * lean
            out[f"{side}_hip_flexion_wanted"] = forward
            out[f"{side}_ankle_flexion_wanted"] = forward
        out["r_hip_flexion_wanted"] += 0.35 * lifted
        out["r_knee_flexion_wanted"] = 0.7 * lifted
        out["r_ankle_flexion_wanted"] += 0.35 * lifted
        out["l_hip_adduction_wanted"] -= 0.025 * lifted  # against the sag of the pelvis under the lifted leg
        return out

    return ts.Controller(angles, 0.005, names)


def main() -> None:
    person, names = controlled_person()
    equations = ts.derive(person)
    simulated = ts.simulate(
        equations, until=SECONDS, samples=round(SECONDS / STEP) + 1, method="time_stepping", max_step=STEP, rtol=1e-6,
        controllers=[stepping(names, equations.layout.coordinate_names)], outputs=biomechanics.floor_outputs(person),
    )  # fmt: skip
    motion, feet = biomechanics.floor_motion(person, simulated), biomechanics.floor_reactions(person, simulated)
    total = feet["r_foot"] + feet["l_foot"]
    momentum, _ = biomechanics.BodyInMotion(person, motion).momentum
    given = STEP * np.cumsum(total.force[1:] - MASS * G * np.array([0.0, 1.0, 0.0]), axis=0)
    error = np.abs(given - (momentum - momentum[0])[1:]).max()
    print("time (s)  right foot (N)  left foot (N)")
    for k in range(0, len(motion), 250):
        print(f"{motion.time[k]:8.2f}  {feet['r_foot'].force[k, 1]:14.1f}  {feet['l_foot'].force[k, 1]:13.1f}")
    print(f"momentum by contacts and weight, and of the motion: {error:.2g} N s apart at most")
    flight, end = feet["r_foot"].force[2050:2350, 1], slice(-200, None)
    assert np.abs(flight).max() == 0.0, "the right foot is not lifted"
    assert error < 0.05, "momentum"
    assert (
        abs(total.force[end, 1].mean() - MASS * G) < 5.0 and min(one.force[end, 1].min() for one in feet.values()) > 0
    )


if __name__ == "__main__":
    main()
