"""The car on one track with linear tyres, as text, and its closed forms."""

from __future__ import annotations

import numpy as np

M, J, A, B, CF, CR = 1500.0, 2500.0, 1.1, 1.6, 80e3, 90e3
LENGTH = A + B
UNDERSTEER = M * (B * CR - A * CF) / (LENGTH * CF * CR)

TEXT = """
mechanism bicycle "linear car on one track" ;
param m = 1500 kg, J = 2500 kg*m^2, a = 1.1 m, b = 1.6 m, Cf = 80 kN, Cr = 90 kN, u = 20 m/s, delta = 0 rad ;
let body = body mass = m, centre = 0, inertia = diag(J, J, J) end ;
join earth and body with planar(x, y, psi) speeds vx = x'*cos(psi) + y'*sin(psi), vy = -x'*sin(psi) + y'*cos(psi), r = psi' end ;
apply force [0, -Cf*((vy + a*r)/vx - delta), 0] in body on [a, 0, 0] @ body as front ;
apply force [0, -Cr*(vy - b*r)/vx, 0] in body on [-b, 0, 0] @ body as rear ;
init vx = u ;
"""


def yaw_gain(speed: float) -> float:
    return speed / (LENGTH + UNDERSTEER * speed**2)


def state_matrix(speed: float) -> np.ndarray:
    """Sideways speed and yaw rate: the textbook's linear single-track model."""
    moment = A * CF - B * CR
    return np.array(
        [
            [-(CF + CR) / (M * speed), -moment / (M * speed) - speed],
            [-moment / (J * speed), -(A**2 * CF + B**2 * CR) / (J * speed)],
        ]
    )
