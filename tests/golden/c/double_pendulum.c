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
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(_WIN32)
#define TORSEUR_EXPORT __declspec(dllexport)
#else
#define TORSEUR_EXPORT __attribute__((visibility("default")))
#endif
#define TORSEUR_NOINLINE __attribute__((noinline))
#define TORSEUR_INLINE inline __attribute__((always_inline))
#if defined(__clang__) /* which compiles a few thousand operations in one piece well, and faster code comes out */
#define TORSEUR_PIECE TORSEUR_INLINE
#else
#define TORSEUR_PIECE TORSEUR_NOINLINE
#endif

#include "double_pendulum.h"
/* Vectors of numbers, and sines and cosines of n angles (n a multiple of 8), the cosines behind the sines. */
#if defined(__GNUC__) && !defined(__FAST_MATH__)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t lane_bits __attribute__((vector_size(8 * LANES)));

#define LANES_BEYOND (-INT64_C(0x20000)) /* bits of what lanes_turn returns for an angle it cannot do */

/* Sine and cosine of |x| < 65536 pi/2, within 1.1 units in the last place; returns the quarter turns of x + 65536. */
static TORSEUR_INLINE lane_bits lanes_turn(lanes x, lanes *sine, lanes *cosine) {
  /* x = k pi/2 + (r + t), the products of k with parts of pi/2 exact (Cody and Waite). */
  const lanes shifted = x * 0.63661977236758134308 + 6755399441055744.0;
  const lane_bits quadrant = (lane_bits)shifted;
  const lanes k = shifted - 6755399441055744.0;
  const lanes near = x - k * 1.57079632673412561417e+00;
  const lanes r = near - k * 6.07710050630396597660e-11;
  const lanes t = ((near - r) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
  /* Minimax polynomials for |r| <= pi/4, of the degrees that fdlibm takes. */
  const lanes z = r * r, square = z + r * (t + t);
  const lanes s = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
      + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
  const lanes c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
      + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
  const lanes sine_r = r + (square * r * s + t);
  const lanes cosine_r = 1.0 + square * (-0.5 + z * c);
  /* Odd quadrants exchange the two; the next bit is the sign. */
  const lane_bits odd = -(quadrant & 1), turned = quadrant << 62;
  const lane_bits exchange = ((lane_bits)sine_r ^ (lane_bits)cosine_r) & odd;
  *sine = (lanes)((lane_bits)sine_r ^ exchange ^ (turned & INT64_MIN));
  *cosine = (lanes)((lane_bits)cosine_r ^ exchange ^ ((turned + (INT64_C(1) << 62)) & INT64_MIN));
  return quadrant - (INT64_C(0x4338000000000000) - 0x10000);
}

static TORSEUR_INLINE void sines_of(const double *restrict angles, double *restrict sines, int n) {
  lane_bits beyond = {0};
  for (int i = 0; i < n; i += LANES) {
    lanes x, sine, cosine;
    memcpy(&x, angles + i, sizeof x);
    beyond |= lanes_turn(x, &sine, &cosine);
    memcpy(sines + i, &sine, sizeof sine);
    memcpy(sines + n + i, &cosine, sizeof cosine);
  }
  int64_t any = 0;
  for (int i = 0; i < LANES; i++) any |= beyond[i];
  if (any & LANES_BEYOND)
    for (int i = 0; i < n; i++) {
      sines[i] = sin(angles[i]);
      sines[n + i] = cos(angles[i]);
    }
}
#else
typedef double lanes;
#define LANES 1

static void sines_of(const double *restrict angles, double *restrict sines, int n) {
  for (int i = 0; i < n; i++) {
    sines[i] = sin(angles[i]);
    sines[n + i] = cos(angles[i]);
  }
}
#endif

static TORSEUR_INLINE lanes lanes_load(const double *from) {
  lanes x;
  memcpy(&x, from, sizeof x);
  return x;
}

static TORSEUR_INLINE void lanes_store(double *to, lanes x) { memcpy(to, &x, sizeof x); }

/* The first lanes of a vector. */
static TORSEUR_INLINE void lanes_store_some(double *to, lanes x, int count) {
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__FAST_MATH__)
  __builtin_ia32_storeupd512_mask(to, x, (unsigned char)((1u << count) - 1));
#else
  if (count == LANES)
    lanes_store(to, x);
  else
    memcpy(to, &x, count * sizeof(double));
#endif
}



/* inverse_dynamics: 54 operations (36 multiplication, 14 addition, 4 trigonometric) */
/* of these, 13 depend on parameters only: double_pendulum_inverse_dynamics_prepare computes 6 values */
/* inputs: q (2), v (2), vdot (2), prepared (6) */
/* outputs: tau (2) */
TORSEUR_EXPORT void double_pendulum_inverse_dynamics_prepare(const double *restrict p, double *restrict prepared) {
  const double m2 = p[2];
  const double r2 = p[3];
  const double l2 = p[4];
  const double m1 = p[1];
  const double g = p[0];
  const double t0 = 0.5 * m2;
  const double t1 = t0 * r2;
  const double t2 = 2.0 * r2;
  const double t3 = r2 * r2;
  const double t4 = l2 * l2;
  const double t5 = t1 * t2;
  const double t6 = m1 * t3;
  const double t7 = m1 * r2;
  const double t8 = m2 * r2;
  const double t9 = t4 * m2;
  const double t10 = l2 * m2;
  const double t11 = t6 + t5;
  const double t12 = t7 + t8;
  prepared[0] = g;
  prepared[1] = t12;
  prepared[2] = t11;
  prepared[3] = t10;
  prepared[4] = r2;
  prepared[5] = t9;
}

TORSEUR_EXPORT void double_pendulum_inverse_dynamics(const double *restrict q, const double *restrict v, const double *restrict vdot, const double *restrict prepared, double *restrict tau) {
  const double angles[8] = {q[0], q[1]};
  double sines[16];
  sines_of(angles, sines, 8);
  const double q1_dot = v[0];
  const double q2_dot = v[1];
  const double q1_ddot = vdot[0];
  const double q2_ddot = vdot[1];
  const double g = prepared[0];
  const double r2 = prepared[4];
  const double prepared_3 = prepared[3];
  const double prepared_5 = prepared[5];
  const double prepared_1 = prepared[1];
  const double prepared_2 = prepared[2];
  const double t1 = sines[9];
  const double t2 = sines[1];
  const double t3 = sines[8];
  const double t0 = sines[0];
  const double w_blade_y = q1_dot * t1;
  const double w_blade_x = q1_dot * t2;
  const double t6 = w_blade_y * w_blade_x;
  const double t7 = w_blade_y * w_blade_y;
  const double t8 = q2_dot * q2_dot;
  const double t9 = w_blade_x * q2_dot;
  const double t10 = q1_ddot * t1;
  const double t11 = q1_dot * q1_dot;
  const double t12 = t6 + q2_ddot;
  const double t13 = t7 + t8;
  const double dw_blade_y = t10 - t9;
  const double a_arm_y = g * t3;
  const double t16 = t11 * r2;
  const double t17 = prepared_3 * t13;
  const double t18 = prepared_3 * t12;
  const double t19 = t9 - dw_blade_y;
  const double t20 = a_arm_y + t16;
  const double a_arm_x = g * t0;
  const double t22 = q1_ddot * r2;
  const double t23 = t17 * t1;
  const double t24 = t18 * t2;
  const double t25 = prepared_5 * t19;
  const double t26 = t20 * prepared_3;
  const double t27 = a_arm_x + t22;
  const double t28 = t23 + t24;
  const double t29 = t26 + t25;
  const double t30 = t27 * t2;
  const double t31 = t28 * r2;
  const double t32 = t29 * t1;
  const double t33 = a_arm_x * prepared_1;
  const double t34 = prepared_2 * q1_ddot;
  const double t35 = t30 * prepared_3;
  const double t36 = prepared_5 * t12;
  const double t37 = t31 - t32;
  const double t38 = t33 + t34;
  const double t39 = t35 + t36;
  const double t40 = t38 + t37;
  tau[0] = t40;
  tau[1] = t39;
}

/* forward_dynamics: 66 operations (44 multiplication, 16 addition, 4 trigonometric, 2 division) */
/* of these, 14 depend on parameters only: double_pendulum_forward_dynamics_prepare computes 7 values */
/* inputs: q (2), v (2), tau (2), prepared (7) */
/* outputs: vdot (2) */
TORSEUR_EXPORT void double_pendulum_forward_dynamics_prepare(const double *restrict p, double *restrict prepared) {
  const double l2 = p[4];
  const double m2 = p[2];
  const double r2 = p[3];
  const double m1 = p[1];
  const double g = p[0];
  const double t0 = l2 * l2;
  const double t1 = t0 * m2;
  const double t2 = 1.0 / t1;
  const double t3 = 0.5 * m2;
  const double t4 = t3 * r2;
  const double t5 = 2.0 * r2;
  const double t6 = r2 * r2;
  const double t7 = m1 * r2;
  const double t8 = m2 * r2;
  const double t9 = t4 * t5;
  const double t10 = m1 * t6;
  const double t11 = t7 + t8;
  const double t12 = l2 * m2;
  const double t13 = t10 + t9;
  prepared[0] = t1;
  prepared[1] = t13;
  prepared[2] = t12;
  prepared[3] = r2;
  prepared[4] = t2;
  prepared[5] = g;
  prepared[6] = t11;
}

TORSEUR_EXPORT void double_pendulum_forward_dynamics(const double *restrict q, const double *restrict v, const double *restrict tau, const double *restrict prepared, double *restrict vdot) {
  const double angles[8] = {q[1], q[0]};
  double sines[16];
  sines_of(angles, sines, 8);
  const double q1_dot = v[0];
  const double q2_dot = v[1];
  const double g = prepared[5];
  const double r2 = prepared[3];
  const double prepared_2 = prepared[2];
  const double prepared_0 = prepared[0];
  const double prepared_4 = prepared[4];
  const double prepared_1 = prepared[1];
  const double prepared_6 = prepared[6];
  const double tau_q2_dot = tau[1];
  const double tau_q1_dot = tau[0];
  const double t2 = sines[8];
  const double t0 = sines[0];
  const double t3 = sines[9];
  const double t1 = sines[1];
  const double w_blade_y = q1_dot * t2;
  const double t5 = w_blade_y * w_blade_y;
  const double t6 = q2_dot * q2_dot;
  const double w_blade_x = q1_dot * t0;
  const double t8 = q1_dot * q1_dot;
  const double t9 = t5 + t6;
  const double t10 = w_blade_y * w_blade_x;
  const double t11 = w_blade_x * q2_dot;
  const double a_arm_y = g * t3;
  const double t13 = t8 * r2;
  const double t14 = prepared_2 * t0;
  const double t15 = prepared_0 * t0;
  const double t16 = prepared_2 * t9;
  const double t17 = prepared_2 * t10;
  const double t18 = 2.0 * t11;
  const double t19 = a_arm_y + t13;
  const double t20 = t14 * r2;
  const double t21 = t15 * t0;
  const double t22 = t16 * t2;
  const double t23 = t17 * t0;
  const double t24 = prepared_0 * t18;
  const double t25 = t19 * prepared_2;
  const double a_arm_x = g * t1;
  const double t27 = prepared_4 * t20;
  const double t28 = prepared_0 - t21;
  const double t29 = t22 + t23;
  const double t30 = t25 + t24;
  const double t31 = a_arm_x * t0;
  const double t32 = t28 + prepared_1;
  const double t33 = t20 * t27;
  const double t34 = t29 * r2;
  const double t35 = t30 * t2;
  const double t36 = t31 * prepared_2;
  const double t37 = prepared_0 * t10;
  const double t38 = t32 - t33;
  const double t39 = t34 - t35;
  const double t40 = a_arm_x * prepared_6;
  const double t41 = t36 + t37;
  const double t42 = 1.0 / t38;
  const double t43 = t40 + t39;
  const double t44 = tau_q2_dot - t41;
  const double t45 = tau_q1_dot - t43;
  const double t46 = t27 * t44;
  const double t47 = t45 - t46;
  const double t48 = t42 * t47;
  const double t49 = t48 * t27;
  const double t50 = prepared_4 * t44;
  const double t51 = t50 - t49;
  vdot[0] = t48;
  vdot[1] = t51;
}

/* mass_matrix_by_q: 13 operations (9 multiplication, 2 trigonometric, 1 addition, 1 negation) */
/* of these, 3 depend on parameters only: double_pendulum_mass_matrix_by_q_prepare computes 3 values */
/* inputs: q (2), prepared (3) */
/* outputs: dmass_matrix_dq (2 x 2 x 2) */
TORSEUR_EXPORT void double_pendulum_mass_matrix_by_q_prepare(const double *restrict p, double *restrict prepared) {
  const double l2 = p[4];
  const double m2 = p[2];
  const double r2 = p[3];
  const double t0 = l2 * l2;
  const double t1 = l2 * m2;
  const double t2 = t0 * m2;
  prepared[0] = t2;
  prepared[1] = t1;
  prepared[2] = r2;
}

TORSEUR_EXPORT void double_pendulum_mass_matrix_by_q(const double *restrict q, const double *restrict prepared, double *restrict dmass_matrix_dq) {
  const double q2 = q[1];
  const double prepared_0 = prepared[0];
  const double prepared_1 = prepared[1];
  const double r2 = prepared[2];
  const double t0 = cos(q2);
  const double t1 = sin(q2);
  const double t2 = prepared_0 * t1;
  const double t3 = prepared_0 * t0;
  const double t4 = t2 * t0;
  const double t5 = t3 * t1;
  const double t6 = prepared_1 * t0;
  const double t7 = t4 + t5;
  const double t8 = t6 * r2;
  const double t9 = -t7;
  dmass_matrix_dq[0] = 0.0;
  dmass_matrix_dq[2] = 0.0;
  dmass_matrix_dq[4] = 0.0;
  dmass_matrix_dq[6] = 0.0;
  dmass_matrix_dq[7] = 0.0;
  dmass_matrix_dq[1] = t9;
  dmass_matrix_dq[3] = t8;
  dmass_matrix_dq[5] = t8;
}
