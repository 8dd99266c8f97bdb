"""Random models in MJCF as public files are written: classes of defaults, armature, tendons, equalities, replicas, keyframes."""

from __future__ import annotations

import numpy as np


def numbers(values) -> str:
    return " ".join(repr(float(x)) for x in np.atleast_1d(values))


class RandomModel:
    """A tree of bodies with hinges, slides, balls and a free base; `text` is the file.

    `follower` moves by `ratio` times `leader` plus `offset` (equality joint); a key called "pose" gives all coordinates
    and speeds.
    """

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.single: list[str] = []
        self.sites: list[str] = []
        self.kinds: list[str] = []
        self.names: list[str] = []
        self.nq = self.nv = 0
        bodies = "".join(self.chain(f"b{k}", 3) for k in range(2))
        copies = self.chain("r", 2)
        self.nq, self.nv = self.nq + self.copied[0], self.nv + self.copied[1]
        self.leader, self.follower = self.single[0], self.single[1]
        self.offset, self.ratio = (float(x) for x in rng.normal(size=2))
        # Of one chain: MuJoCo's mass matrix has no place for what couples two branches.
        hinges = [n for n, kind in zip(self.names, self.kinds, strict=True) if kind == "hinge" and n.startswith("b0")]
        pair = "".join(f'<joint joint="{n}" coef="{numbers(rng.normal())}"/>' for n in hinges)
        self.text = f"""<mujoco><compiler angle="radian" autolimits="true"/><option gravity="{numbers(rng.normal(size=3))}"/>
<default><joint armature="{numbers(rng.uniform())}" damping="0.1"/><geom density="700"/>
<default class="stiff"><joint stiffness="{numbers(rng.uniform(1, 5))}" springref="0.3"/></default></default>
<worldbody><site name="hook" pos="0.3 0.2 2"/>{bodies}<replicate count="2" offset="0.5 0 0" euler="0.1 0 0.3">{copies}</replicate></worldbody>
<tendon><fixed name="pair" stiffness="3" damping="0.2" springlength="0.1 0.4" armature="{numbers(rng.uniform())}">{pair}</fixed>
<spatial name="rope" stiffness="40" damping="1" springlength="0.2"><site site="hook"/><site site="{self.sites[0]}"/><site site="{self.sites[1]}"/></spatial></tendon>
<equality><joint joint1="{self.follower}" joint2="{self.leader}" polycoef="{numbers([self.offset, self.ratio, 0, 0, 0])}"/></equality>
<actuator><motor name="m" joint="{self.leader}" gear="3" ctrlrange="-1 1"/><position name="p" tendon="pair" kp="7" kv="0.5"/>
<general name="g" site="{self.sites[1]}" gear="{numbers(rng.normal(size=6))}"/></actuator>
<keyframe><key name="pose" qpos="{numbers(self.pose())}" qvel="{numbers(rng.normal(size=self.nv))}"/></keyframe></mujoco>"""

    def chain(self, name: str, length: int) -> str:
        """A body that carries the next; joints of several kinds."""
        rng, before, inner = self.rng, (self.nq, self.nv), ""
        kinds = [str(rng.choice(["hinge", "slide", "ball"])) for _ in range(length)]
        kinds[0] = kinds[-1] = "hinge"
        self.kinds += kinds
        self.names += [f"{name}_j{k}" for k in range(length)]
        for k in reversed(range(length)):
            joint = f"{name}_j{k}"
            if kinds[k] == "ball":
                written = f'<joint name="{joint}" type="ball" armature="0"/>'
            else:
                written = (
                    f'<joint name="{joint}" type="{kinds[k]}" axis="{numbers(rng.normal(size=3))}" '
                    f'pos="{numbers(rng.normal(size=3) / 5)}" class="stiff"/>'
                )
            geom = f'<geom type="capsule" size="0.05 0.2" pos="{numbers(rng.normal(size=3) / 5)}" quat="{numbers(rng.normal(size=4))}"/>'
            site = f'<site name="{name}_s{k}" pos="{numbers(rng.normal(size=3) / 5)}"/>'
            inner = (
                f'<body name="{name}_{k}" pos="{numbers(rng.normal(size=3) / 3)}">{written}{geom}{site}{inner}</body>'
            )
        self.nq += sum(4 if kind == "ball" else 1 for kind in kinds)
        self.nv += sum(3 if kind == "ball" else 1 for kind in kinds)
        self.copied = (self.nq - before[0], self.nv - before[1])
        if name != "r":
            self.single += [f"{name}_j{k}" for k in range(length) if kinds[k] != "ball"]
            self.sites.append(f"{name}_s{length - 1}")
        return inner

    def pose(self) -> np.ndarray:
        """Coordinates in the order of the file: both chains, then the copies."""
        per_chain = [self.kinds[0:3], self.kinds[3:6], self.kinds[6:8], self.kinds[6:8]]
        parts = []
        for kind in (kind for kinds in per_chain for kind in kinds):
            drawn = self.rng.normal(size=4 if kind == "ball" else 1)
            parts.append(drawn / np.linalg.norm(drawn) if kind == "ball" else drawn)
        return np.concatenate(parts)
