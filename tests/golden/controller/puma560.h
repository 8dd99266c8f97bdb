/* puma560: inverse_dynamics */
/* Puma 560 arm, six revolute joints */
/* Written in C99, for controllers, by torseur. SI units. */

/* q[0]: q1 in rad */
/* q[1]: q2 in rad */
/* q[2]: q3 in rad */
/* q[3]: q4 in rad */
/* q[4]: q5 in rad */
/* q[5]: q6 in rad */

/* v[0]: q1' in rad/s, rate of q1 */
/* v[1]: q2' in rad/s, rate of q2 */
/* v[2]: q3' in rad/s, rate of q3 */
/* v[3]: q4' in rad/s, rate of q4 */
/* v[4]: q5' in rad/s, rate of q5 */
/* v[5]: q6' in rad/s, rate of q6 */

/* vdot[0]: q1'' in rad/s^2, rate of q1' */
/* vdot[1]: q2'' in rad/s^2, rate of q2' */
/* vdot[2]: q3'' in rad/s^2, rate of q3' */
/* vdot[3]: q4'' in rad/s^2, rate of q4' */
/* vdot[4]: q5'' in rad/s^2, rate of q5' */
/* vdot[5]: q6'' in rad/s^2, rate of q6' */

/* p[0]: g = 9.81 m/s^2, gravity */
/* p[1]: a2 = 0.4318 m, length of the upper arm */
/* p[2]: a3 = -0.0203 m, offset of the elbow */
/* p[3]: d2 = 0.2435 m, offset of the shoulder */
/* p[4]: d3 = -0.0934 m, offset of the forearm */
/* p[5]: d4 = 0.4331 m, length of the forearm */
/* p[6]: goal1 = 1.04719755 rad, goal of the waist */
/* p[7]: goal2 = -1.04719755 rad, goal of the shoulder */
/* p[8]: goal3 = 2.61799388 rad, goal of the elbow */
/* p[9]: goal4 = 0.698131701 rad, goal of the forearm */
/* p[10]: goal5 = 1.04719755 rad, goal of the wrist */
/* p[11]: goal6 = 1.57079633 rad, goal of the hand */
/* p[12]: k1 = 60 N*m, stiffness of servo 1 */
/* p[13]: k2 = 300 N*m, stiffness of servo 2 */
/* p[14]: k3 = 80 N*m, stiffness of servo 3 */
/* p[15]: k4 = 0.8 N*m, stiffness of servo 4 */
/* p[16]: k5 = 0.8 N*m, stiffness of servo 5 */
/* p[17]: k6 = 0.004 N*m, stiffness of servo 6 */
/* p[18]: c1 = 30 N*m*s, damping of servo 1 */
/* p[19]: c2 = 80 N*m*s, damping of servo 2 */
/* p[20]: c3 = 20 N*m*s, damping of servo 3 */
/* p[21]: c4 = 0.15 N*m*s, damping of servo 4 */
/* p[22]: c5 = 0.15 N*m*s, damping of servo 5 */
/* p[23]: c6 = 0.001 N*m*s, damping of servo 6 */
#ifndef TORSEUR_PUMA560_H
#define TORSEUR_PUMA560_H

/* The type of all numbers: -DPUMA560_REAL=float for a processor with single precision only. */
#ifndef PUMA560_REAL
#define PUMA560_REAL double
#endif
typedef PUMA560_REAL puma560_real;

enum { puma560_work_size = 45 };
enum { puma560_inverse_dynamics_prepared_size = 38 };
#ifdef __cplusplus
extern "C" {
#endif

/* puma560_inverse_dynamics_prepare: 68 operations (42 addition, 26 multiplication). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 6 of the puma560_work_size places of work, whose contents need not be kept. */
void puma560_inverse_dynamics_prepare(const puma560_real *p, puma560_real *prepared, puma560_real *work);

/* puma560_inverse_dynamics: 399 operations (208 multiplication, 181 addition, 10 trigonometric). */
/* The most that a call takes, and the least: a straight line, without loops, allocation or state. */
/* It uses 45 of the puma560_work_size places of work, whose contents need not be kept. */
void puma560_inverse_dynamics(const puma560_real *q, const puma560_real *v, const puma560_real *vdot, const puma560_real *prepared, puma560_real *tau, puma560_real *work);
#ifdef __cplusplus
}
#endif

#endif
