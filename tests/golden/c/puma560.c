/* puma560: inverse_dynamics */
/* Puma 560 arm, six revolute joints */
/* Written in C by torseur. SI units. */

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

#include "puma560.h"
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



/* inverse_dynamics: 467 operations (234 multiplication, 223 addition, 10 trigonometric) */
/* of these, 68 depend on parameters only: puma560_inverse_dynamics_prepare computes 38 values */
/* inputs: q (6), v (6), vdot (6), prepared (38) */
/* outputs: tau (6) */
TORSEUR_EXPORT void puma560_inverse_dynamics_prepare(const double *restrict p, double *restrict prepared) {
  const double d4 = p[5];
  const double a3 = p[2];
  const double d3 = p[4];
  const double a2 = p[1];
  const double d2 = p[3];
  const double g = p[0];
  const double c1 = p[18];
  const double goal1 = p[6];
  const double k1 = p[12];
  const double c2 = p[19];
  const double goal2 = p[7];
  const double k2 = p[13];
  const double c3 = p[20];
  const double goal3 = p[8];
  const double k3 = p[14];
  const double c4 = p[21];
  const double goal4 = p[9];
  const double k4 = p[15];
  const double c5 = p[22];
  const double goal5 = p[10];
  const double k5 = p[16];
  const double c6 = p[23];
  const double goal6 = p[11];
  const double k6 = p[17];
  const double t0 = 0.625 * d4;
  const double t1 = 0.015579999999999998 - t0;
  const double t2 = 2.0 * d4;
  const double t3 = t2 * t1;
  const double t4 = 0.0014460200000000003 - t3;
  const double t5 = 0.09046080000000001 + t4;
  const double t6 = a3 * a3;
  const double t7 = 1.25 * t6;
  const double t8 = 0.013440800000000001 + t7;
  const double t9 = t8 + t5;
  const double t10 = t7 - t3;
  const double t11 = 0.0014460200000000003 + t10;
  const double t12 = 0.08952 + t11;
  const double t13 = t9 - t12;
  const double t14 = 0.5 * t13;
  const double t15 = 3.025 * d3;
  const double t16 = 0.0672 + t15;
  const double t17 = 2.0 * d3;
  const double t18 = t16 * t17;
  const double t19 = a2 * a2;
  const double t20 = 6.05 * t19;
  const double t21 = t20 + t18;
  const double t22 = t21 + t14;
  const double t23 = 0.608912 + t22;
  const double t24 = t14 + t18;
  const double t25 = 0.1350808 + t24;
  const double t26 = t23 + t25;
  const double t27 = 0.6200840000000001 + t20;
  const double t28 = t26 - t27;
  const double t29 = 0.5 * t28;
  const double t30 = t23 - t29;
  const double t31 = t25 - t29;
  const double t32 = t30 + t31;
  const double t33 = t30 - t31;
  const double t34 = t8 - t14;
  const double t35 = t5 - t14;
  const double t36 = t34 - t35;
  const double t37 = t34 + t35;
  const double t38 = 1.25 * d4;
  const double t39 = 0.015579999999999998 - t38;
  const double t40 = (-0.336) + t39;
  const double t41 = a3 * t1;
  const double t42 = 0.625 * a3;
  const double t43 = t42 * d4;
  const double t44 = t43 - t41;
  const double t45 = 1.25 * a3;
  const double t46 = 6.05 * a2;
  const double t47 = 1.1832 + t46;
  const double t48 = a2 * t16;
  const double t49 = 3.025 * a2;
  const double t50 = t49 * d3;
  const double t51 = t48 + t50;
  const double t52 = 0.018931200000000002 - t51;
  const double t53 = 6.05 * d3;
  const double t54 = 0.0672 + t53;
  const double t55 = (-0.2784) + t54;
  const double t56 = 11.725 * d2;
  const double t57 = t56 + t55;
  const double t58 = 2.0 * d2;
  const double t59 = t58 * t57;
  const double t60 = t29 + t59;
  const double t61 = 0.7 + t60;
  const double t62 = 0.35 + t60;
  const double t63 = t61 - t62;
  const double t64 = 0.5 * t63;
  const double t65 = t62 - t64;
  const double t66 = 0.35 - t64;
  const double t67 = t65 + t66;
  prepared[0] = t67;
  prepared[1] = t52;
  prepared[2] = t30;
  prepared[3] = d2;
  prepared[4] = t47;
  prepared[5] = a2;
  prepared[6] = d3;
  prepared[7] = t45;
  prepared[8] = t34;
  prepared[9] = t44;
  prepared[10] = g;
  prepared[11] = d4;
  prepared[12] = a3;
  prepared[13] = t35;
  prepared[14] = t40;
  prepared[15] = t31;
  prepared[16] = c1;
  prepared[17] = goal1;
  prepared[18] = k1;
  prepared[19] = t37;
  prepared[20] = t36;
  prepared[21] = t33;
  prepared[22] = t32;
  prepared[23] = c2;
  prepared[24] = goal2;
  prepared[25] = k2;
  prepared[26] = c3;
  prepared[27] = goal3;
  prepared[28] = k3;
  prepared[29] = c4;
  prepared[30] = goal4;
  prepared[31] = k4;
  prepared[32] = c5;
  prepared[33] = goal5;
  prepared[34] = k5;
  prepared[35] = c6;
  prepared[36] = goal6;
  prepared[37] = k6;
}

TORSEUR_EXPORT void puma560_inverse_dynamics(const double *restrict q, const double *restrict v, const double *restrict vdot, const double *restrict prepared, double *restrict tau) {
  const double angles[8] = {q[1], q[2], q[3], q[4], q[5]};
  double sines[16];
  sines_of(angles, sines, 8);
  const double q1_dot = v[0];
  const double q2_dot = v[1];
  const double q1_ddot = vdot[0];
  const double q3_dot = v[2];
  const double q2_ddot = vdot[1];
  const double q3_ddot = vdot[2];
  const double q4_dot = v[3];
  const double q4_ddot = vdot[3];
  const double q5_dot = v[4];
  const double q6_ddot = vdot[5];
  const double q6 = q[5];
  const double goal6 = prepared[36];
  const double k6 = prepared[37];
  const double c6 = prepared[35];
  const double q6_dot = v[5];
  const double q5_ddot = vdot[4];
  const double d3 = prepared[6];
  const double a2 = prepared[5];
  const double d2 = prepared[3];
  const double g = prepared[10];
  const double d4 = prepared[11];
  const double a3 = prepared[12];
  const double q5 = q[4];
  const double goal5 = prepared[33];
  const double k5 = prepared[34];
  const double c5 = prepared[32];
  const double q4 = q[3];
  const double goal4 = prepared[30];
  const double k4 = prepared[31];
  const double c4 = prepared[29];
  const double prepared_7 = prepared[7];
  const double prepared_14 = prepared[14];
  const double prepared_20 = prepared[20];
  const double prepared_19 = prepared[19];
  const double prepared_9 = prepared[9];
  const double q3 = q[2];
  const double goal3 = prepared[27];
  const double k3 = prepared[28];
  const double c3 = prepared[26];
  const double prepared_21 = prepared[21];
  const double prepared_22 = prepared[22];
  const double prepared_1 = prepared[1];
  const double prepared_4 = prepared[4];
  const double q2 = q[1];
  const double goal2 = prepared[24];
  const double k2 = prepared[25];
  const double c2 = prepared[23];
  const double prepared_13 = prepared[13];
  const double prepared_8 = prepared[8];
  const double prepared_2 = prepared[2];
  const double prepared_15 = prepared[15];
  const double prepared_0 = prepared[0];
  const double q1 = q[0];
  const double goal1 = prepared[17];
  const double k1 = prepared[18];
  const double c1 = prepared[16];
  const double t0 = sines[0];
  const double t1 = sines[8];
  const double t3 = sines[1];
  const double t2 = sines[9];
  const double t5 = sines[10];
  const double t4 = sines[2];
  const double t6 = sines[3];
  const double t7 = sines[11];
  const double t9 = sines[12];
  const double t8 = sines[4];
  const double t10 = q1_dot * t0;
  const double t11 = t10 * q2_dot;
  const double t12 = q1_ddot * t1;
  const double dw_link2_y = t11 - t12;
  const double t14 = dw_link2_y * t3;
  const double t15 = q1_dot * t1;
  const double t16 = t15 * q2_dot;
  const double t17 = q1_ddot * t0;
  const double t18 = t16 + t17;
  const double t19 = t18 * t2;
  const double t20 = t14 - t19;
  const double t21 = t10 * t3;
  const double t22 = t15 * t2;
  const double w_link3_y = t21 - t22;
  const double t24 = w_link3_y * q3_dot;
  const double dw_link3_x = t24 + t20;
  const double t26 = dw_link3_x * t5;
  const double dw_link3_z = q2_ddot + q3_ddot;
  const double t28 = dw_link3_z * t4;
  const double t29 = t26 + t28;
  const double t30 = t10 * t2;
  const double t31 = t15 * t3;
  const double t32 = t30 + t31;
  const double t33 = t32 * t4;
  const double w_link3_z = q2_dot + q3_dot;
  const double t35 = w_link3_z * t5;
  const double w_link4_y = t33 + t35;
  const double t37 = w_link4_y * q4_dot;
  const double dw_link4_x = t37 + t29;
  const double t39 = dw_link4_x * t6;
  const double t40 = t18 * t3;
  const double t41 = dw_link2_y * t2;
  const double t42 = t40 + t41;
  const double t43 = t32 * q3_dot;
  const double dw_link3_y = t42 + t43;
  const double t45 = dw_link3_y - q4_ddot;
  const double t46 = t45 * t7;
  const double t47 = t46 - t39;
  const double t48 = t32 * t5;
  const double t49 = w_link3_z * t4;
  const double w_link4_x = t49 - t48;
  const double t51 = w_link4_x * t7;
  const double t52 = t22 - t21;
  const double w_link4_z = t52 + q4_dot;
  const double t54 = w_link4_z * t6;
  const double w_link5_x = t51 - t54;
  const double t56 = w_link5_x * q5_dot;
  const double t57 = t56 - t47;
  const double dw_link6_z = t57 + q6_ddot;
  const double t59 = 3.9999999999999996e-05 * dw_link6_z;
  const double t60 = q6 - goal6;
  const double t61 = k6 * t60;
  const double t62 = c6 * q6_dot;
  const double t63 = t62 + t61;
  const double t64 = t63 + t59;
  const double t65 = dw_link4_x * t7;
  const double t66 = t45 * t6;
  const double t67 = t66 + t65;
  const double t68 = w_link4_x * t6;
  const double t69 = w_link4_z * t7;
  const double t70 = t69 + t68;
  const double t71 = t70 * q5_dot;
  const double dw_link5_x = t67 - t71;
  const double t73 = dw_link5_x * t9;
  const double t74 = dw_link3_x * t4;
  const double t75 = dw_link3_z * t5;
  const double t76 = t75 - t74;
  const double t77 = w_link4_x * q4_dot;
  const double dw_link4_y = t76 - t77;
  const double dw_link5_z = dw_link4_y + q5_ddot;
  const double t80 = dw_link5_z * t8;
  const double t81 = t73 + t80;
  const double t82 = w_link5_x * t8;
  const double w_link5_z = w_link4_y + q5_dot;
  const double t84 = w_link5_z * t9;
  const double w_link6_y = t84 - t82;
  const double t86 = w_link6_y * q6_dot;
  const double dw_link6_x = t86 + t81;
  const double w_link6_z = t70 + q6_dot;
  const double t89 = w_link6_y * w_link6_z;
  const double t90 = dw_link6_x + t89;
  const double t91 = 1.9999999999999998e-05 * t90;
  const double t92 = t91 * t8;
  const double t93 = dw_link5_x * t8;
  const double t94 = dw_link5_z * t9;
  const double t95 = t94 - t93;
  const double t96 = w_link5_x * t9;
  const double t97 = w_link5_z * t8;
  const double w_link6_x = t97 + t96;
  const double t99 = w_link6_x * q6_dot;
  const double dw_link6_y = t95 - t99;
  const double t101 = w_link6_z * w_link6_x;
  const double t102 = t101 - dw_link6_y;
  const double t103 = 1.9999999999999998e-05 * t102;
  const double t104 = t103 * t9;
  const double t105 = t92 - t104;
  const double t106 = dw_link2_y - t11;
  const double t107 = d3 * t106;
  const double t108 = t15 * t15;
  const double t109 = q2_dot * q2_dot;
  const double t110 = t108 + t109;
  const double t111 = a2 * t110;
  const double t112 = t107 - t111;
  const double t113 = d2 * q1_ddot;
  const double t114 = t113 * t1;
  const double t115 = g * t0;
  const double t116 = t114 + t115;
  const double t117 = t112 - t116;
  const double t118 = t117 * t2;
  const double t119 = t15 * t10;
  const double t120 = t119 + q2_ddot;
  const double t121 = a2 * t120;
  const double t122 = d3 * t17;
  const double t123 = t121 + t122;
  const double t124 = t113 * t0;
  const double t125 = g * t1;
  const double a_link2_y = t124 - t125;
  const double t127 = t123 + a_link2_y;
  const double t128 = t127 * t3;
  const double a_link3_x = t128 + t118;
  const double t130 = t32 * w_link3_y;
  const double t131 = t130 + dw_link3_z;
  const double t132 = d4 * t131;
  const double t133 = w_link3_y * w_link3_y;
  const double t134 = w_link3_z * w_link3_z;
  const double t135 = t133 + t134;
  const double t136 = a3 * t135;
  const double t137 = t132 - t136;
  const double t138 = a_link3_x + t137;
  const double t139 = t138 * t5;
  const double t140 = t32 * w_link3_z;
  const double t141 = t140 + dw_link3_y;
  const double t142 = a3 * t141;
  const double t143 = w_link3_y * w_link3_z;
  const double t144 = t143 + dw_link3_x;
  const double t145 = d4 * t144;
  const double t146 = t142 + t145;
  const double t147 = dw_link2_y + t11;
  const double t148 = a2 * t147;
  const double t149 = t10 * t10;
  const double t150 = t108 + t149;
  const double t151 = d3 * t150;
  const double t152 = t148 + t151;
  const double t153 = q1_dot * q1_dot;
  const double t154 = d2 * t153;
  const double t155 = t152 + t154;
  const double t156 = t155 + t146;
  const double t157 = t156 * t4;
  const double a_link4_x = t139 - t157;
  const double t159 = a_link4_x * t7;
  const double t160 = t117 * t3;
  const double t161 = t127 * t2;
  const double a_link3_y = t161 - t160;
  const double t163 = dw_link3_z - t130;
  const double t164 = a3 * t163;
  const double t165 = t32 * t32;
  const double t166 = t165 + t134;
  const double t167 = d4 * t166;
  const double t168 = t164 + t167;
  const double t169 = a_link3_y + t168;
  const double t170 = t169 * t6;
  const double a_link5_x = t170 + t159;
  const double t172 = 0.0028799999999999997 * a_link5_x;
  const double t173 = 0.0006221600000000001 * dw_link5_z;
  const double t174 = t70 * w_link5_x;
  const double t175 = 0.00022216000000000005 * t174;
  const double t176 = t175 + t173;
  const double t177 = t172 + t176;
  const double t178 = t177 + t105;
  const double t179 = q5 - goal5;
  const double t180 = k5 * t179;
  const double t181 = c5 * q5_dot;
  const double t182 = t181 + t180;
  const double t183 = t178 + t182;
  const double t184 = t103 * t8;
  const double t185 = t91 * t9;
  const double t186 = t184 + t185;
  const double t187 = 0.0004221600000000001 * dw_link5_x;
  const double t188 = w_link5_z * t70;
  const double t189 = 0.00042216000000000004 * t188;
  const double t190 = t187 - t189;
  const double t191 = t138 * t4;
  const double t192 = t156 * t5;
  const double t193 = t191 + t192;
  const double t194 = 0.0028799999999999997 * t193;
  const double t195 = t194 + t190;
  const double t196 = t195 + t186;
  const double t197 = t196 * t6;
  const double dw_link5_y = t47 - t56;
  const double t199 = 0.00020000000000000004 * dw_link5_y;
  const double t200 = w_link5_z * w_link5_x;
  const double t201 = 0.00019999999999999998 * t200;
  const double t202 = t199 - t201;
  const double t203 = t202 - t59;
  const double t204 = t203 * t7;
  const double t205 = t197 + t204;
  const double dw_link4_z = q4_ddot - dw_link3_y;
  const double t207 = 0.0013999999999999993 * dw_link4_z;
  const double t208 = w_link4_y * w_link4_x;
  const double t209 = 9.999999999999983e-05 * t208;
  const double t210 = t207 - t209;
  const double t211 = t210 - t205;
  const double t212 = q4 - goal4;
  const double t213 = k4 * t212;
  const double t214 = c4 * q4_dot;
  const double t215 = t214 + t213;
  const double t216 = t215 + t211;
  const double t217 = t196 * t7;
  const double t218 = t203 * t6;
  const double t219 = t217 - t218;
  const double t220 = w_link4_z * w_link4_y;
  const double t221 = t220 + dw_link4_x;
  const double t222 = 0.0007499999999999996 * t221;
  const double t223 = t219 + t222;
  const double t224 = t223 * t4;
  const double t225 = w_link4_z * w_link4_x;
  const double t226 = t225 - dw_link4_y;
  const double t227 = 0.0006499999999999998 * t226;
  const double t228 = t178 - t227;
  const double t229 = t228 * t5;
  const double t230 = t229 + t224;
  const double t231 = t174 + dw_link5_z;
  const double t232 = 0.0028799999999999997 * t231;
  const double t233 = t232 * t7;
  const double t234 = w_link5_x * w_link5_x;
  const double t235 = w_link5_z * w_link5_z;
  const double t236 = t235 + t234;
  const double t237 = 0.0028799999999999997 * t236;
  const double t238 = t237 * t6;
  const double t239 = t233 - t238;
  const double t240 = t239 * t5;
  const double t241 = dw_link5_x - t188;
  const double t242 = 0.0028799999999999997 * t241;
  const double t243 = t242 * t4;
  const double t244 = t240 + t243;
  const double t245 = d4 * t244;
  const double t246 = t232 * t6;
  const double t247 = t237 * t7;
  const double t248 = t246 + t247;
  const double t249 = a3 * t248;
  const double t250 = t249 + t245;
  const double t251 = t230 + t250;
  const double t252 = a_link3_y * prepared_7;
  const double t253 = a_link3_x * prepared_14;
  const double t254 = t252 - t253;
  const double t255 = dw_link3_y - t140;
  const double t256 = 0.004704000000000001 * t255;
  const double t257 = prepared_20 * t130;
  const double t258 = prepared_19 * dw_link3_z;
  const double t259 = t258 - t257;
  const double t260 = t259 + t256;
  const double t261 = t165 - t133;
  const double t262 = prepared_9 * t261;
  const double t263 = t260 + t262;
  const double t264 = t254 + t263;
  const double t265 = t251 + t264;
  const double t266 = q3 - goal3;
  const double t267 = k3 * t266;
  const double t268 = c3 * q3_dot;
  const double t269 = t268 + t267;
  const double t270 = t265 + t269;
  const double t271 = prepared_7 * t135;
  const double t272 = prepared_14 * t131;
  const double t273 = t271 + t272;
  const double t274 = t244 - t273;
  const double t275 = t274 * t3;
  const double t276 = prepared_7 * t163;
  const double t277 = prepared_14 * t166;
  const double t278 = t276 - t277;
  const double t279 = t278 + t248;
  const double t280 = t279 * t2;
  const double t281 = t280 + t275;
  const double t282 = a2 * t281;
  const double t283 = t265 + t282;
  const double t284 = 0.0016703999999999998 * t106;
  const double t285 = prepared_21 * t119;
  const double t286 = prepared_22 * q2_ddot;
  const double t287 = t285 + t286;
  const double t288 = t287 + t284;
  const double t289 = prepared_1 * t17;
  const double t290 = t288 - t289;
  const double t291 = t149 - t108;
  const double t292 = 0.0070992 * t291;
  const double t293 = t290 - t292;
  const double t294 = prepared_4 * a_link2_y;
  const double t295 = 0.10439999999999999 * t116;
  const double t296 = t294 + t295;
  const double t297 = t296 + t293;
  const double t298 = t283 + t297;
  const double t299 = q2 - goal2;
  const double t300 = k2 * t299;
  const double t301 = c2 * q2_dot;
  const double t302 = t301 + t300;
  const double t303 = t298 + t302;
  const double t304 = t223 * t5;
  const double t305 = t228 * t4;
  const double t306 = t304 - t305;
  const double t307 = t239 * t4;
  const double t308 = t242 * t5;
  const double t309 = t307 - t308;
  const double t310 = d4 * t309;
  const double t311 = t306 - t310;
  const double t312 = prepared_9 * t141;
  const double t313 = prepared_13 * t144;
  const double t314 = t312 + t313;
  const double t315 = t133 - t134;
  const double t316 = 0.004704000000000001 * t315;
  const double t317 = t314 + t316;
  const double t318 = t155 * prepared_14;
  const double t319 = t317 - t318;
  const double t320 = t311 + t319;
  const double t321 = t320 * t3;
  const double t322 = t205 - t210;
  const double t323 = a3 * t309;
  const double t324 = t322 - t323;
  const double t325 = prepared_8 * t141;
  const double t326 = prepared_9 * t144;
  const double t327 = t325 + t326;
  const double t328 = 0.004704000000000001 * t131;
  const double t329 = t327 + t328;
  const double t330 = t155 * prepared_7;
  const double t331 = t330 + t329;
  const double t332 = t331 + t324;
  const double t333 = t332 * t2;
  const double t334 = t333 + t321;
  const double t335 = t274 * t2;
  const double t336 = t279 * t3;
  const double t337 = t335 - t336;
  const double t338 = d3 * t337;
  const double t339 = prepared_14 * t144;
  const double t340 = prepared_7 * t141;
  const double t341 = t339 - t340;
  const double t342 = t341 + t309;
  const double t343 = a2 * t342;
  const double t344 = t338 - t343;
  const double t345 = t334 + t344;
  const double t346 = prepared_2 * t147;
  const double t347 = t18 + t16;
  const double t348 = 0.0070992 * t347;
  const double t349 = t346 + t348;
  const double t350 = t119 - q2_ddot;
  const double t351 = 0.0016703999999999998 * t350;
  const double t352 = t349 - t351;
  const double t353 = t109 - t149;
  const double t354 = prepared_1 * t353;
  const double t355 = t354 + t352;
  const double t356 = prepared_4 * t154;
  const double t357 = t355 + t356;
  const double t358 = t357 + t345;
  const double t359 = t358 * t1;
  const double t360 = t320 * t2;
  const double t361 = t332 * t3;
  const double t362 = t360 - t361;
  const double t363 = t281 * d3;
  const double t364 = t362 - t363;
  const double t365 = prepared_15 * t347;
  const double t366 = prepared_1 * t120;
  const double t367 = t366 - t365;
  const double t368 = 0.0070992 * t147;
  const double t369 = t367 - t368;
  const double t370 = t108 - t109;
  const double t371 = 0.0016703999999999998 * t370;
  const double t372 = t369 + t371;
  const double t373 = 0.10439999999999999 * t154;
  const double t374 = t372 - t373;
  const double t375 = t374 + t364;
  const double t376 = t375 * t0;
  const double t377 = t359 + t376;
  const double t378 = 0.10439999999999999 * t350;
  const double t379 = prepared_4 * t110;
  const double t380 = t378 - t379;
  const double t381 = t337 + t380;
  const double t382 = t381 * t1;
  const double t383 = prepared_4 * t120;
  const double t384 = t149 + t109;
  const double t385 = 0.10439999999999999 * t384;
  const double t386 = t383 - t385;
  const double t387 = t386 + t281;
  const double t388 = t387 * t0;
  const double t389 = t382 - t388;
  const double t390 = d2 * t389;
  const double t391 = t377 + t390;
  const double t392 = prepared_0 * q1_ddot;
  const double t393 = t392 - t391;
  const double t394 = q1 - goal1;
  const double t395 = k1 * t394;
  const double t396 = c1 * q1_dot;
  const double t397 = t396 + t395;
  const double t398 = t393 + t397;
  tau[0] = t398;
  tau[1] = t303;
  tau[2] = t270;
  tau[3] = t216;
  tau[4] = t183;
  tau[5] = t64;
}
