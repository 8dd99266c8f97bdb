/* double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q */
/* orthogonal double pendulum */
/* Written in C99, for controllers, by torseur. SI units. */

/* q[0]: q1 in rad, swing of the arm */
/* q[1]: q2 in rad, swing of the blade */

/* v[0]: q1' in rad/s, rate of q1 */
/* v[1]: q2' in rad/s, rate of q2 */

/* vdot[0]: q1'' in rad/s^2, rate of q1' */
/* vdot[1]: q2'' in rad/s^2, rate of q2' */

/* p[0]: g = 9.81 m/s^2, gravity */
/* p[1]: m1 = 4 kg, mass of the arm, at the elbow */
/* p[2]: m2 = 2 kg, mass of the blade */
/* p[3]: r2 = 5 m, distance from shoulder to elbow */
/* p[4]: l2 = 2 m, distance from elbow to the blade's mass centre */

/* tau[0]: tau.q1' in N*m, generalised force along q1' */
/* tau[1]: tau.q2' in N*m, generalised force along q2' */
#include <tgmath.h>

#include "double_pendulum.h"

#define R(number) ((double_pendulum_real)(number))

void double_pendulum_inverse_dynamics_prepare(const double_pendulum_real *restrict p, double_pendulum_real *restrict prepared, double_pendulum_real *restrict work) {
  work[0] = p[1] * p[3];
  work[1] = p[2] * p[3];
  work[1] = work[0] + work[1];
  prepared[1] = work[1];
  work[1] = p[3] * p[3];
  work[1] = p[1] * work[1];
  work[0] = R(0.5) * p[2];
  work[0] = work[0] * p[3];
  work[2] = R(2.0) * p[3];
  work[2] = work[0] * work[2];
  work[2] = work[1] + work[2];
  prepared[2] = work[2];
  work[2] = p[4] * p[2];
  prepared[3] = work[2];
  work[2] = p[4] * p[4];
  work[2] = work[2] * p[2];
  prepared[5] = work[2];
  prepared[0] = p[0];
  prepared[4] = p[3];
}

void double_pendulum_inverse_dynamics(const double_pendulum_real *restrict q, const double_pendulum_real *restrict v, const double_pendulum_real *restrict vdot, const double_pendulum_real *restrict prepared, double_pendulum_real *restrict tau, double_pendulum_real *restrict work) {
  work[0] = sin(q[0]);
  work[1] = cos(q[0]);
  work[0] = prepared[0] * work[0];
  work[1] = prepared[0] * work[1];
  work[2] = work[0] * prepared[1];
  work[3] = prepared[2] * vdot[0];
  work[3] = work[2] + work[3];
  work[2] = cos(q[1]);
  work[4] = sin(q[1]);
  work[5] = vdot[0] * work[2];
  work[6] = vdot[0] * prepared[4];
  work[6] = work[0] + work[6];
  work[6] = work[6] * work[4];
  work[6] = work[6] * prepared[3];
  work[0] = v[0] * work[2];
  work[7] = work[0] * work[0];
  work[8] = v[0] * work[4];
  work[0] = work[0] * work[8];
  work[0] = work[0] + vdot[1];
  work[9] = v[0] * v[0];
  work[9] = work[9] * prepared[4];
  work[9] = work[1] + work[9];
  work[9] = work[9] * prepared[3];
  work[1] = prepared[3] * work[0];
  work[4] = work[1] * work[4];
  work[8] = work[8] * v[1];
  work[1] = v[1] * v[1];
  work[1] = work[7] + work[1];
  work[1] = prepared[3] * work[1];
  work[1] = work[1] * work[2];
  work[4] = work[1] + work[4];
  work[4] = work[4] * prepared[4];
  work[5] = work[5] - work[8];
  work[5] = work[8] - work[5];
  work[5] = prepared[5] * work[5];
  work[5] = work[9] + work[5];
  work[2] = work[5] * work[2];
  work[2] = work[4] - work[2];
  work[2] = work[3] + work[2];
  tau[0] = work[2];
  work[0] = prepared[5] * work[0];
  work[0] = work[6] + work[0];
  tau[1] = work[0];
}

void double_pendulum_forward_dynamics_prepare(const double_pendulum_real *restrict p, double_pendulum_real *restrict prepared, double_pendulum_real *restrict work) {
  work[0] = p[4] * p[4];
  work[1] = p[4] * p[2];
  prepared[2] = work[1];
  work[0] = work[0] * p[2];
  prepared[0] = work[0];
  work[0] = R(1.0) / work[0];
  prepared[4] = work[0];
  work[0] = R(0.5) * p[2];
  work[0] = work[0] * p[3];
  work[1] = p[2] * p[3];
  work[2] = p[3] * p[3];
  work[2] = p[1] * work[2];
  work[3] = p[1] * p[3];
  work[1] = work[3] + work[1];
  prepared[6] = work[1];
  work[1] = R(2.0) * p[3];
  work[1] = work[0] * work[1];
  work[1] = work[2] + work[1];
  prepared[1] = work[1];
  prepared[3] = p[3];
  prepared[5] = p[0];
}

void double_pendulum_forward_dynamics(const double_pendulum_real *restrict q, const double_pendulum_real *restrict v, const double_pendulum_real *restrict tau, const double_pendulum_real *restrict prepared, double_pendulum_real *restrict vdot, double_pendulum_real *restrict work) {
  work[0] = sin(q[0]);
  work[1] = cos(q[0]);
  work[0] = prepared[5] * work[0];
  work[1] = prepared[5] * work[1];
  work[2] = work[0] * prepared[6];
  work[3] = sin(q[1]);
  work[0] = work[0] * work[3];
  work[4] = cos(q[1]);
  work[0] = work[0] * prepared[2];
  work[5] = prepared[2] * work[3];
  work[5] = work[5] * prepared[3];
  work[6] = v[0] * work[4];
  work[7] = v[0] * work[3];
  work[8] = v[0] * v[0];
  work[8] = work[8] * prepared[3];
  work[8] = work[1] + work[8];
  work[8] = work[8] * prepared[2];
  work[1] = work[6] * work[7];
  work[6] = work[6] * work[6];
  work[9] = prepared[2] * work[1];
  work[9] = work[9] * work[3];
  work[1] = prepared[0] * work[1];
  work[1] = work[0] + work[1];
  work[1] = tau[1] - work[1];
  work[0] = prepared[0] * work[3];
  work[3] = work[0] * work[3];
  work[3] = prepared[0] - work[3];
  work[3] = work[3] + prepared[1];
  work[7] = work[7] * v[1];
  work[0] = v[1] * v[1];
  work[0] = work[6] + work[0];
  work[0] = prepared[2] * work[0];
  work[0] = work[0] * work[4];
  work[9] = work[0] + work[9];
  work[9] = work[9] * prepared[3];
  work[7] = R(2.0) * work[7];
  work[7] = prepared[0] * work[7];
  work[7] = work[8] + work[7];
  work[4] = work[7] * work[4];
  work[4] = work[9] - work[4];
  work[4] = work[2] + work[4];
  work[4] = tau[0] - work[4];
  work[2] = prepared[4] * work[1];
  work[9] = prepared[4] * work[5];
  work[5] = work[5] * work[9];
  work[5] = work[3] - work[5];
  work[5] = R(1.0) / work[5];
  work[1] = work[9] * work[1];
  work[1] = work[4] - work[1];
  work[1] = work[5] * work[1];
  vdot[0] = work[1];
  work[9] = work[1] * work[9];
  work[9] = work[2] - work[9];
  vdot[1] = work[9];
}

void double_pendulum_mass_matrix_by_q_prepare(const double_pendulum_real *restrict p, double_pendulum_real *restrict prepared, double_pendulum_real *restrict work) {
  work[0] = p[4] * p[4];
  work[0] = work[0] * p[2];
  prepared[0] = work[0];
  work[0] = p[4] * p[2];
  prepared[1] = work[0];
  prepared[2] = p[3];
}

void double_pendulum_mass_matrix_by_q(const double_pendulum_real *restrict q, const double_pendulum_real *restrict prepared, double_pendulum_real *restrict dmass_matrix_dq, double_pendulum_real *restrict work) {
  work[0] = sin(q[1]);
  work[1] = prepared[0] * work[0];
  work[2] = cos(q[1]);
  work[1] = work[1] * work[2];
  work[3] = prepared[0] * work[2];
  work[0] = work[3] * work[0];
  work[0] = work[1] + work[0];
  work[0] = -work[0];
  dmass_matrix_dq[1] = work[0];
  work[2] = prepared[1] * work[2];
  work[2] = work[2] * prepared[2];
  dmass_matrix_dq[3] = work[2];
  dmass_matrix_dq[5] = work[2];
  dmass_matrix_dq[0] = R(0.0);
  dmass_matrix_dq[2] = R(0.0);
  dmass_matrix_dq[4] = R(0.0);
  dmass_matrix_dq[6] = R(0.0);
  dmass_matrix_dq[7] = R(0.0);
}
