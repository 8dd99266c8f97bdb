/* double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q */
/* orthogonal double pendulum */
/* Written in C by torseur. SI units. */

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
/* One row per entry, one column per state: entry j of state i is array[j * stride + i]. Prepared parameters
   are plain vectors. NAME_again does not write results that are the same in every state, zeros between limbs
   for instance: it is for arrays that NAME has filled before. NAME_threads works on all states, with
   -fopenmp in threads; stride = count. */
#ifndef TORSEUR_DOUBLE_PENDULUM_BATCH_H
#define TORSEUR_DOUBLE_PENDULUM_BATCH_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void double_pendulum_inverse_dynamics_batch(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *vdot, const double *prepared, double *tau);
void double_pendulum_inverse_dynamics_batch_again(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *vdot, const double *prepared, double *tau);
void double_pendulum_inverse_dynamics_batch_threads(int threads, ptrdiff_t count, const double *q, const double *v, const double *vdot, const double *prepared, double *tau);
void double_pendulum_forward_dynamics_batch(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *tau, const double *prepared, double *vdot);
void double_pendulum_forward_dynamics_batch_again(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *tau, const double *prepared, double *vdot);
void double_pendulum_forward_dynamics_batch_threads(int threads, ptrdiff_t count, const double *q, const double *v, const double *tau, const double *prepared, double *vdot);
void double_pendulum_mass_matrix_by_q_batch(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *prepared, double *dmass_matrix_dq);
void double_pendulum_mass_matrix_by_q_batch_again(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *prepared, double *dmass_matrix_dq);
void double_pendulum_mass_matrix_by_q_batch_threads(int threads, ptrdiff_t count, const double *q, const double *prepared, double *dmass_matrix_dq);
#ifdef __cplusplus
}
#endif
#endif
