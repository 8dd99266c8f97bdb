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
  const double t3 = a3 * a3;
  const double t4 = t2 * t1;
  const double t5 = 1.25 * t3;
  const double t6 = 0.0014460200000000003 - t4;
  const double t7 = t5 - t4;
  const double t8 = 0.09046080000000001 + t6;
  const double t9 = 0.013440800000000001 + t5;
  const double t10 = 0.0014460200000000003 + t7;
  const double t11 = 3.025 * d3;
  const double t12 = t9 + t8;
  const double t13 = 0.08952 + t10;
  const double t14 = 0.0672 + t11;
  const double t15 = 2.0 * d3;
  const double t16 = a2 * a2;
  const double t17 = t12 - t13;
  const double t18 = t14 * t15;
  const double t19 = 6.05 * t16;
  const double t20 = 0.5 * t17;
  const double t21 = t19 + t18;
  const double t22 = t21 + t20;
  const double t23 = t20 + t18;
  const double t24 = 6.05 * d3;
  const double t25 = 0.608912 + t22;
  const double t26 = 0.1350808 + t23;
  const double t27 = 0.0672 + t24;
  const double t28 = t25 + t26;
  const double t29 = 0.6200840000000001 + t19;
  const double t30 = (-0.2784) + t27;
  const double t31 = 11.725 * d2;
  const double t32 = t28 - t29;
  const double t33 = t31 + t30;
  const double t34 = 2.0 * d2;
  const double t35 = 0.5 * t32;
  const double t36 = t34 * t33;
  const double t37 = t35 + t36;
  const double t38 = 0.7 + t37;
  const double t39 = 0.35 + t37;
  const double t40 = 3.025 * a2;
  const double t41 = t38 - t39;
  const double t42 = 1.25 * d4;
  const double t43 = 0.625 * a3;
  const double t44 = a2 * t14;
  const double t45 = t40 * d3;
  const double t46 = 0.5 * t41;
  const double t47 = t25 - t35;
  const double t48 = t26 - t35;
  const double t49 = t9 - t20;
  const double t50 = t8 - t20;
  const double t51 = 0.015579999999999998 - t42;
  const double t52 = a3 * t1;
  const double t53 = t43 * d4;
  const double t54 = 6.05 * a2;
  const double t55 = t44 + t45;
  const double t56 = t39 - t46;
  const double t57 = 0.35 - t46;
  const double t58 = t47 + t48;
  const double t59 = t47 - t48;
  const double t60 = t49 - t50;
  const double t61 = t49 + t50;
  const double t62 = (-0.336) + t51;
  const double t63 = t53 - t52;
  const double t64 = 1.25 * a3;
  const double t65 = 1.1832 + t54;
  const double t66 = 0.018931200000000002 - t55;
  const double t67 = t56 + t57;
  prepared[0] = t67;
  prepared[1] = t66;
  prepared[2] = t47;
  prepared[3] = d2;
  prepared[4] = t65;
  prepared[5] = a2;
  prepared[6] = d3;
  prepared[7] = t64;
  prepared[8] = t49;
  prepared[9] = t63;
  prepared[10] = g;
  prepared[11] = d4;
  prepared[12] = a3;
  prepared[13] = t50;
  prepared[14] = t62;
  prepared[15] = t48;
  prepared[16] = c1;
  prepared[17] = goal1;
  prepared[18] = k1;
  prepared[19] = t61;
  prepared[20] = t60;
  prepared[21] = t59;
  prepared[22] = t58;
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
  const double c3 = prepared[26];
  const double q4_dot = v[3];
  const double c2 = prepared[23];
  const double c4 = prepared[29];
  const double q5_ddot = vdot[4];
  const double d3 = prepared[6];
  const double c1 = prepared[16];
  const double d2 = prepared[3];
  const double prepared_0 = prepared[0];
  const double prepared_20 = prepared[20];
  const double prepared_19 = prepared[19];
  const double q5_dot = v[4];
  const double prepared_13 = prepared[13];
  const double prepared_8 = prepared[8];
  const double prepared_2 = prepared[2];
  const double prepared_15 = prepared[15];
  const double prepared_21 = prepared[21];
  const double prepared_22 = prepared[22];
  const double a2 = prepared[5];
  const double prepared_1 = prepared[1];
  const double prepared_4 = prepared[4];
  const double prepared_9 = prepared[9];
  const double q6 = q[5];
  const double goal6 = prepared[36];
  const double k6 = prepared[37];
  const double q5 = q[4];
  const double goal5 = prepared[33];
  const double k5 = prepared[34];
  const double q4 = q[3];
  const double goal4 = prepared[30];
  const double k4 = prepared[31];
  const double q3 = q[2];
  const double goal3 = prepared[27];
  const double k3 = prepared[28];
  const double q2 = q[1];
  const double goal2 = prepared[24];
  const double k2 = prepared[25];
  const double q1 = q[0];
  const double goal1 = prepared[17];
  const double k1 = prepared[18];
  const double c5 = prepared[32];
  const double q4_ddot = vdot[3];
  const double q6_ddot = vdot[5];
  const double q6_dot = v[5];
  const double c6 = prepared[35];
  const double g = prepared[10];
  const double d4 = prepared[11];
  const double prepared_14 = prepared[14];
  const double a3 = prepared[12];
  const double prepared_7 = prepared[7];
  const double t0 = sines[0];
  const double t1 = sines[8];
  const double t3 = sines[1];
  const double t2 = sines[9];
  const double t4 = sines[2];
  const double t5 = sines[10];
  const double t6 = sines[3];
  const double t7 = sines[11];
  const double t8 = sines[4];
  const double t9 = sines[12];
  const double t10 = q1_dot * t0;
  const double t11 = q1_dot * t1;
  const double t12 = t10 * q2_dot;
  const double t13 = q1_ddot * t1;
  const double t14 = t11 * q2_dot;
  const double t15 = q1_ddot * t0;
  const double dw_link2_y = t12 - t13;
  const double t17 = t14 + t15;
  const double t18 = t10 * t3;
  const double t19 = t11 * t2;
  const double t20 = dw_link2_y * t3;
  const double t21 = t17 * t2;
  const double w_link3_y = t18 - t19;
  const double t23 = t10 * t2;
  const double t24 = t11 * t3;
  const double t25 = t20 - t21;
  const double t26 = w_link3_y * q3_dot;
  const double t27 = t23 + t24;
  const double w_link3_z = q2_dot + q3_dot;
  const double dw_link3_x = t26 + t25;
  const double dw_link3_z = q2_ddot + q3_ddot;
  const double t31 = t27 * t4;
  const double t32 = t19 - t18;
  const double t33 = t17 + t14;
  const double t34 = t17 * t3;
  const double t35 = dw_link2_y * t2;
  const double t36 = t34 + t35;
  const double t37 = dw_link3_z * t4;
  const double t38 = t27 * q3_dot;
  const double dw_link3_y = t36 + t38;
  const double t40 = c3 * q3_dot;
  const double t41 = w_link3_z * t4;
  const double w_link4_z = t32 + q4_dot;
  const double t43 = t11 * t11;
  const double t44 = t11 * t10;
  const double t45 = t10 * t10;
  const double t46 = q2_dot * q2_dot;
  const double t47 = c2 * q2_dot;
  const double t48 = dw_link3_x * t4;
  const double t49 = dw_link2_y - t12;
  const double t50 = dw_link2_y + t12;
  const double t51 = t43 + t46;
  const double t52 = t44 + q2_ddot;
  const double t53 = t27 * w_link3_y;
  const double t54 = w_link3_y * w_link3_y;
  const double t55 = w_link3_y * w_link3_z;
  const double t56 = t55 + dw_link3_x;
  const double t57 = dw_link3_x * t5;
  const double t58 = t57 + t37;
  const double t59 = w_link3_z * t5;
  const double w_link4_y = t31 + t59;
  const double t61 = t27 * t5;
  const double w_link4_x = t41 - t61;
  const double t63 = w_link4_y * q4_dot;
  const double dw_link4_x = t63 + t58;
  const double t65 = dw_link3_z * t5;
  const double t66 = t65 - t48;
  const double t67 = w_link4_x * q4_dot;
  const double dw_link4_y = t66 - t67;
  const double t69 = c4 * q4_dot;
  const double t70 = w_link3_z * w_link3_z;
  const double t71 = t27 * w_link3_z;
  const double t72 = t27 * t27;
  const double t73 = t43 + t45;
  const double dw_link5_z = dw_link4_y + q5_ddot;
  const double t75 = t53 + dw_link3_z;
  const double t76 = t54 + t70;
  const double t77 = t71 + dw_link3_y;
  const double t78 = dw_link3_y - t71;
  const double t79 = 0.004704000000000001 * t78;
  const double t80 = d3 * t73;
  const double t81 = d3 * t49;
  const double t82 = 0.0016703999999999998 * t49;
  const double t83 = d3 * t15;
  const double t84 = q1_dot * q1_dot;
  const double t85 = c1 * q1_dot;
  const double t86 = d2 * t84;
  const double t87 = d2 * q1_ddot;
  const double t88 = prepared_0 * q1_ddot;
  const double t89 = t87 * t1;
  const double t90 = t87 * t0;
  const double t91 = dw_link3_z - t53;
  const double t92 = prepared_20 * t53;
  const double t93 = prepared_19 * dw_link3_z;
  const double t94 = t93 - t92;
  const double t95 = t94 + t79;
  const double t96 = t72 + t70;
  const double t97 = t54 - t70;
  const double t98 = t72 - t54;
  const double t99 = 0.004704000000000001 * t97;
  const double t100 = 0.0006221600000000001 * dw_link5_z;
  const double t101 = w_link4_z * w_link4_y;
  const double t102 = t101 + dw_link4_x;
  const double t103 = 0.0007499999999999996 * t102;
  const double t104 = w_link4_z * w_link4_x;
  const double t105 = t104 - dw_link4_y;
  const double t106 = 0.0006499999999999998 * t105;
  const double t107 = w_link4_y * w_link4_x;
  const double t108 = 9.999999999999983e-05 * t107;
  const double w_link5_z = w_link4_y + q5_dot;
  const double t110 = w_link5_z * w_link5_z;
  const double t111 = prepared_13 * t56;
  const double t112 = prepared_8 * t77;
  const double t113 = 0.004704000000000001 * t75;
  const double t114 = prepared_2 * t50;
  const double t115 = 0.0070992 * t33;
  const double t116 = t114 + t115;
  const double t117 = prepared_15 * t33;
  const double t118 = t44 - q2_ddot;
  const double t119 = prepared_21 * t44;
  const double t120 = prepared_22 * q2_ddot;
  const double t121 = t119 + t120;
  const double t122 = t121 + t82;
  const double t123 = 0.0016703999999999998 * t118;
  const double t124 = t116 - t123;
  const double t125 = 0.10439999999999999 * t118;
  const double t126 = t46 - t45;
  const double t127 = 0.0070992 * t50;
  const double t128 = a2 * t50;
  const double t129 = t128 + t80;
  const double t130 = t129 + t86;
  const double t131 = a2 * t51;
  const double t132 = t81 - t131;
  const double t133 = a2 * t52;
  const double t134 = t133 + t83;
  const double t135 = t43 - t46;
  const double t136 = t45 + t46;
  const double t137 = t45 - t43;
  const double t138 = 0.0016703999999999998 * t135;
  const double t139 = 0.10439999999999999 * t136;
  const double t140 = 0.0070992 * t137;
  const double t141 = prepared_1 * t126;
  const double t142 = t141 + t124;
  const double t143 = prepared_1 * t15;
  const double t144 = t122 - t143;
  const double t145 = t144 - t140;
  const double t146 = prepared_1 * t52;
  const double t147 = t146 - t117;
  const double t148 = t147 - t127;
  const double t149 = t148 + t138;
  const double t150 = prepared_4 * t51;
  const double t151 = t125 - t150;
  const double t152 = prepared_4 * t52;
  const double t153 = t152 - t139;
  const double t154 = prepared_4 * t86;
  const double t155 = t142 + t154;
  const double t156 = 0.10439999999999999 * t86;
  const double t157 = t149 - t156;
  const double t158 = prepared_9 * t98;
  const double t159 = t95 + t158;
  const double t160 = prepared_9 * t77;
  const double t161 = t160 + t111;
  const double t162 = t161 + t99;
  const double t163 = prepared_9 * t56;
  const double t164 = t112 + t163;
  const double t165 = t164 + t113;
  const double t166 = q6 - goal6;
  const double t167 = k6 * t166;
  const double t168 = q5 - goal5;
  const double t169 = k5 * t168;
  const double t170 = q4 - goal4;
  const double t171 = k4 * t170;
  const double t172 = t69 + t171;
  const double t173 = q3 - goal3;
  const double t174 = k3 * t173;
  const double t175 = t40 + t174;
  const double t176 = q2 - goal2;
  const double t177 = k2 * t176;
  const double t178 = t47 + t177;
  const double t179 = q1 - goal1;
  const double t180 = k1 * t179;
  const double t181 = t85 + t180;
  const double t182 = c5 * q5_dot;
  const double t183 = t182 + t169;
  const double t184 = dw_link3_y - q4_ddot;
  const double dw_link4_z = q4_ddot - dw_link3_y;
  const double t186 = 0.0013999999999999993 * dw_link4_z;
  const double t187 = t186 - t108;
  const double t188 = w_link4_x * t6;
  const double t189 = w_link4_x * t7;
  const double t190 = w_link4_z * t7;
  const double t191 = t190 + t188;
  const double t192 = w_link4_z * t6;
  const double w_link5_x = t189 - t192;
  const double t194 = dw_link4_x * t7;
  const double t195 = dw_link4_x * t6;
  const double t196 = t184 * t6;
  const double t197 = t196 + t194;
  const double t198 = t184 * t7;
  const double t199 = t198 - t195;
  const double t200 = t191 * q5_dot;
  const double dw_link5_x = t197 - t200;
  const double t202 = w_link5_x * q5_dot;
  const double t203 = w_link5_z * t191;
  const double t204 = t202 - t199;
  const double dw_link5_y = t199 - t202;
  const double dw_link6_z = t204 + q6_ddot;
  const double t207 = 0.00020000000000000004 * dw_link5_y;
  const double t208 = 3.9999999999999996e-05 * dw_link6_z;
  const double t209 = 0.0004221600000000001 * dw_link5_x;
  const double t210 = 0.00042216000000000004 * t203;
  const double t211 = t209 - t210;
  const double t212 = dw_link5_x - t203;
  const double t213 = 0.0028799999999999997 * t212;
  const double t214 = w_link5_z * w_link5_x;
  const double t215 = 0.00019999999999999998 * t214;
  const double t216 = t207 - t215;
  const double t217 = t216 - t208;
  const double t218 = t191 * w_link5_x;
  const double w_link6_z = t191 + q6_dot;
  const double t220 = w_link5_x * w_link5_x;
  const double t221 = t110 + t220;
  const double t222 = 0.0028799999999999997 * t221;
  const double t223 = 0.00022216000000000005 * t218;
  const double t224 = t223 + t100;
  const double t225 = t218 + dw_link5_z;
  const double t226 = 0.0028799999999999997 * t225;
  const double t227 = t217 * t6;
  const double t228 = t217 * t7;
  const double t229 = t226 * t7;
  const double t230 = t226 * t6;
  const double t231 = t222 * t6;
  const double t232 = t229 - t231;
  const double t233 = t222 * t7;
  const double t234 = t230 + t233;
  const double t235 = t232 * t5;
  const double t236 = t232 * t4;
  const double t237 = t213 * t4;
  const double t238 = t235 + t237;
  const double t239 = t213 * t5;
  const double t240 = t236 - t239;
  const double t241 = c6 * q6_dot;
  const double t242 = t241 + t167;
  const double t243 = t242 + t208;
  const double t244 = g * t0;
  const double t245 = t89 + t244;
  const double t246 = g * t1;
  const double a_link2_y = t90 - t246;
  const double t248 = t132 - t245;
  const double t249 = t134 + a_link2_y;
  const double t250 = prepared_4 * a_link2_y;
  const double t251 = 0.10439999999999999 * t245;
  const double t252 = t250 + t251;
  const double t253 = t252 + t145;
  const double t254 = t248 * t2;
  const double t255 = t248 * t3;
  const double t256 = t249 * t3;
  const double a_link3_x = t256 + t254;
  const double t258 = t249 * t2;
  const double a_link3_y = t258 - t255;
  const double t260 = w_link5_x * t8;
  const double t261 = w_link5_x * t9;
  const double t262 = w_link5_z * t9;
  const double w_link6_y = t262 - t260;
  const double t264 = w_link5_z * t8;
  const double w_link6_x = t264 + t261;
  const double t266 = dw_link5_x * t9;
  const double t267 = dw_link5_x * t8;
  const double t268 = dw_link5_z * t8;
  const double t269 = t266 + t268;
  const double t270 = dw_link5_z * t9;
  const double t271 = t270 - t267;
  const double t272 = w_link6_y * q6_dot;
  const double dw_link6_x = t272 + t269;
  const double t274 = w_link6_x * q6_dot;
  const double dw_link6_y = t271 - t274;
  const double t276 = w_link6_y * w_link6_z;
  const double t277 = w_link6_z * w_link6_x;
  const double t278 = dw_link6_x + t276;
  const double t279 = t277 - dw_link6_y;
  const double t280 = 1.9999999999999998e-05 * t278;
  const double t281 = 1.9999999999999998e-05 * t279;
  const double t282 = t281 * t8;
  const double t283 = t280 * t8;
  const double t284 = t280 * t9;
  const double t285 = t282 + t284;
  const double t286 = t281 * t9;
  const double t287 = t283 - t286;
  const double t288 = d4 * t75;
  const double t289 = d4 * t56;
  const double t290 = d4 * t96;
  const double t291 = prepared_14 * t75;
  const double t292 = prepared_14 * t96;
  const double t293 = prepared_14 * t56;
  const double t294 = d4 * t240;
  const double t295 = d4 * t238;
  const double t296 = t130 * prepared_14;
  const double t297 = t162 - t296;
  const double t298 = a_link3_x * prepared_14;
  const double t299 = a3 * t76;
  const double t300 = t288 - t299;
  const double t301 = a_link3_x + t300;
  const double t302 = a3 * t77;
  const double t303 = t302 + t289;
  const double t304 = t130 + t303;
  const double t305 = a3 * t91;
  const double t306 = t305 + t290;
  const double t307 = a_link3_y + t306;
  const double t308 = t307 * t6;
  const double t309 = t301 * t5;
  const double t310 = t301 * t4;
  const double t311 = t304 * t4;
  const double a_link4_x = t309 - t311;
  const double t313 = t304 * t5;
  const double t314 = t310 + t313;
  const double t315 = a_link4_x * t7;
  const double a_link5_x = t308 + t315;
  const double t317 = 0.0028799999999999997 * t314;
  const double t318 = t317 + t211;
  const double t319 = t318 + t285;
  const double t320 = 0.0028799999999999997 * a_link5_x;
  const double t321 = t320 + t224;
  const double t322 = t321 + t287;
  const double t323 = t322 + t183;
  const double t324 = t322 - t106;
  const double t325 = t319 * t7;
  const double t326 = t325 - t227;
  const double t327 = t319 * t6;
  const double t328 = t326 + t103;
  const double t329 = t327 + t228;
  const double t330 = prepared_7 * t76;
  const double t331 = t330 + t291;
  const double t332 = t238 - t331;
  const double t333 = prepared_7 * t91;
  const double t334 = t333 - t292;
  const double t335 = t334 + t234;
  const double t336 = t130 * prepared_7;
  const double t337 = t336 + t165;
  const double t338 = prepared_7 * t77;
  const double t339 = t293 - t338;
  const double t340 = a_link3_y * prepared_7;
  const double t341 = t340 - t298;
  const double t342 = t341 + t159;
  const double t343 = t339 + t240;
  const double t344 = a3 * t240;
  const double t345 = a3 * t234;
  const double t346 = t345 + t295;
  const double t347 = a2 * t343;
  const double t348 = t328 * t5;
  const double t349 = t328 * t4;
  const double t350 = t324 * t4;
  const double t351 = t348 - t350;
  const double t352 = t351 - t294;
  const double t353 = t352 + t297;
  const double t354 = t324 * t5;
  const double t355 = t354 + t349;
  const double t356 = t355 + t346;
  const double t357 = t356 + t342;
  const double t358 = t357 + t175;
  const double t359 = t329 - t187;
  const double t360 = t359 - t344;
  const double t361 = t337 + t360;
  const double t362 = t187 - t329;
  const double t363 = t332 * t2;
  const double t364 = t172 + t362;
  const double t365 = t335 * t3;
  const double t366 = t332 * t3;
  const double t367 = t335 * t2;
  const double t368 = t363 - t365;
  const double t369 = t367 + t366;
  const double t370 = t353 * t3;
  const double t371 = t361 * t2;
  const double t372 = d3 * t368;
  const double t373 = t353 * t2;
  const double t374 = t361 * t3;
  const double t375 = t371 + t370;
  const double t376 = t372 - t347;
  const double t377 = t373 - t374;
  const double t378 = t369 * d3;
  const double t379 = t375 + t376;
  const double t380 = t377 - t378;
  const double t381 = t368 + t151;
  const double t382 = t153 + t369;
  const double t383 = t155 + t379;
  const double t384 = t157 + t380;
  const double t385 = t381 * t1;
  const double t386 = t382 * t0;
  const double t387 = t383 * t1;
  const double t388 = t384 * t0;
  const double t389 = t385 - t386;
  const double t390 = a2 * t369;
  const double t391 = t387 + t388;
  const double t392 = d2 * t389;
  const double t393 = t357 + t390;
  const double t394 = t391 + t392;
  const double t395 = t393 + t253;
  const double t396 = t88 - t394;
  const double t397 = t395 + t178;
  const double t398 = t396 + t181;
  tau[0] = t398;
  tau[1] = t397;
  tau[2] = t358;
  tau[3] = t364;
  tau[4] = t323;
  tau[5] = t243;
}
