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
#ifndef TORSEUR_DOUBLE_PENDULUM_H
#define TORSEUR_DOUBLE_PENDULUM_H

/* The type of all numbers: -DDOUBLE_PENDULUM_REAL=float for a processor with single precision only. */
#ifndef DOUBLE_PENDULUM_REAL
#define DOUBLE_PENDULUM_REAL double
#endif
typedef DOUBLE_PENDULUM_REAL double_pendulum_real;

enum { double_pendulum_work_size = 10 };
enum { double_pendulum_inverse_dynamics_prepared_size = 6 };
enum { double_pendulum_forward_dynamics_prepared_size = 7 };
enum { double_pendulum_mass_matrix_by_q_prepared_size = 3 };
#ifdef __cplusplus
extern "C" {
#endif

/* double_pendulum_inverse_dynamics_prepare: 13 operations (11 multiplication, 2 addition). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 3 of the double_pendulum_work_size places of work, whose contents need not be kept. */
void double_pendulum_inverse_dynamics_prepare(const double_pendulum_real *p, double_pendulum_real *prepared, double_pendulum_real *work);

/* double_pendulum_inverse_dynamics: 41 operations (25 multiplication, 12 addition, 4 trigonometric). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 10 of the double_pendulum_work_size places of work, whose contents need not be kept. */
void double_pendulum_inverse_dynamics(const double_pendulum_real *q, const double_pendulum_real *v, const double_pendulum_real *vdot, const double_pendulum_real *prepared, double_pendulum_real *tau, double_pendulum_real *work);

/* double_pendulum_forward_dynamics_prepare: 14 operations (11 multiplication, 2 addition, 1 division). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 4 of the double_pendulum_work_size places of work, whose contents need not be kept. */
void double_pendulum_forward_dynamics_prepare(const double_pendulum_real *p, double_pendulum_real *prepared, double_pendulum_real *work);

/* double_pendulum_forward_dynamics: 52 operations (33 multiplication, 14 addition, 4 trigonometric, 1 division). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 10 of the double_pendulum_work_size places of work, whose contents need not be kept. */
void double_pendulum_forward_dynamics(const double_pendulum_real *q, const double_pendulum_real *v, const double_pendulum_real *tau, const double_pendulum_real *prepared, double_pendulum_real *vdot, double_pendulum_real *work);

/* double_pendulum_mass_matrix_by_q_prepare: 3 operations (3 multiplication). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 1 of the double_pendulum_work_size places of work, whose contents need not be kept. */
void double_pendulum_mass_matrix_by_q_prepare(const double_pendulum_real *p, double_pendulum_real *prepared, double_pendulum_real *work);

/* double_pendulum_mass_matrix_by_q: 10 operations (6 multiplication, 2 trigonometric, 1 addition, 1 negation). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 4 of the double_pendulum_work_size places of work, whose contents need not be kept. */
void double_pendulum_mass_matrix_by_q(const double_pendulum_real *q, const double_pendulum_real *prepared, double_pendulum_real *dmass_matrix_dq, double_pendulum_real *work);
#ifdef __cplusplus
}
#endif

#endif
