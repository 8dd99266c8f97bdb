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

static inline int64_t int_abs(int64_t a) { return a < 0 ? -a : a; }
static inline int64_t int_min(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t int_max(int64_t a, int64_t b) { return b > a ? b : a; }
static inline double float_min(double a, double b) { return b < a ? b : a; }
static inline double float_max(double a, double b) { return b > a ? b : a; }
static inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  int64_t q = a / b;
  return q - (q * b != a && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * floor_div(a, b); }
static inline double float_power2(double a) { return a * a; }
static inline double float_power3(double a) { return a * a * a; }
static inline double float_power4(double a) { return a * a * a * a; }
static inline double float_power5(double a) { return a * a * a * a * a; }
static inline double float_power6(double a) { return a * a * a * a * a * a; }
static inline double float_power7(double a) { return a * a * a * a * a * a * a; }
static inline double float_power8(double a) { return a * a * a * a * a * a * a * a; }
static inline int64_t int_power2(int64_t a) { return a * a; }
static inline int64_t int_power3(int64_t a) { return a * a * a; }
static inline int64_t int_power4(int64_t a) { return a * a * a * a; }
static inline int64_t int_power5(int64_t a) { return a * a * a * a * a; }
static inline int64_t int_power6(int64_t a) { return a * a * a * a * a * a; }
static inline int64_t int_power7(int64_t a) { return a * a * a * a * a * a * a; }
static inline int64_t int_power8(int64_t a) { return a * a * a * a * a * a * a * a; }

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


typedef struct context {
  int64_t failed;
  const double *program_rhs_prepared;
  const double *program_tangent_prepared;
} context;


static TORSEUR_INLINE void program_rhs(const double *restrict t, const double *restrict y, const double *restrict prepared, double *restrict dy) {
  const double angles[8] = {y[0], y[1]};
  double sines[16];
  sines_of(angles, sines, 8);
  const double g = prepared[0];
  const double prepared_2 = prepared[2];
  const double q1_dot = y[2];
  const double prepared_3 = prepared[3];
  const double prepared_4 = prepared[4];
  const double q2_dot = y[3];
  const double r2 = prepared[5];
  const double prepared_1 = prepared[1];
  const double prepared_6 = prepared[6];
  const double prepared_7 = prepared[7];
  const double prepared_8 = prepared[8];
  const double t0 = sines[0];
  const double t2 = sines[1];
  const double t1 = sines[9];
  const double t3 = sines[8];
  const double t4 = g * t0;
  const double t5 = t4 * t2;
  const double t6 = t5 * prepared_2;
  const double t7 = q1_dot * t1;
  const double t8 = q1_dot * t2;
  const double t9 = t7 * t8;
  const double t10 = prepared_3 * t9;
  const double t11 = t6 + t10;
  const double t12 = t11 * prepared_4;
  const double t13 = prepared_2 * t9;
  const double t14 = t12 - t13;
  const double t15 = t14 * t2;
  const double t16 = t7 * t7;
  const double t17 = q2_dot * q2_dot;
  const double t18 = t16 + t17;
  const double t19 = prepared_2 * t18;
  const double t20 = t19 * t1;
  const double t21 = t20 - t15;
  const double t22 = t21 * r2;
  const double t23 = t8 * q2_dot;
  const double t24 = 2.0 * t23;
  const double t25 = prepared_3 * t24;
  const double t26 = g * t3;
  const double t27 = q1_dot * q1_dot;
  const double t28 = t27 * r2;
  const double t29 = t26 + t28;
  const double t30 = t29 * prepared_2;
  const double t31 = t30 + t25;
  const double t32 = t31 * t1;
  const double t33 = t22 - t32;
  const double t34 = t4 * prepared_1;
  const double t35 = t34 + t33;
  const double t36 = prepared_6 * t2;
  const double t37 = t36 * t2;
  const double t38 = t37 * r2;
  const double t39 = t38 * r2;
  const double t40 = prepared_3 * t2;
  const double t41 = t40 * t2;
  const double t42 = prepared_3 - t41;
  const double t43 = t42 - t39;
  const double t44 = t43 + prepared_7;
  const double t45 = 1.0 / t44;
  const double t46 = t35 * t45;
  const double t47 = t46 * r2;
  const double t48 = t47 * t2;
  const double t49 = t48 * prepared_4;
  const double t50 = t11 * prepared_8;
  const double t51 = t49 - t50;
  const double t52 = -t46;
  dy[0] = q1_dot;
  dy[1] = q2_dot;
  dy[2] = t52;
  dy[3] = t51;
}
static TORSEUR_NOINLINE void program_rhs_prepare(const double *restrict p, double *restrict prepared) {
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
  const double t7 = l2 * m2;
  const double t8 = t4 * t5;
  const double t9 = m1 * t6;
  const double t10 = t7 * t2;
  const double t11 = m1 * r2;
  const double t12 = m2 * r2;
  const double t13 = t9 + t8;
  const double t14 = t10 * t7;
  const double t15 = t11 + t12;
  prepared[0] = g;
  prepared[1] = t15;
  prepared[2] = t7;
  prepared[3] = t1;
  prepared[4] = t10;
  prepared[5] = r2;
  prepared[6] = t14;
  prepared[7] = t13;
  prepared[8] = t2;
}

static TORSEUR_NOINLINE void program_tangent(const double *restrict y, const double *restrict t, const double *restrict prepared, double *restrict z) {
  const double angles[8] = {y[1], y[0]};
  double sines[16];
  sines_of(angles, sines, 8);
  const double direction_0 = prepared[13];
  const double g = prepared[9];
  const double direction_4 = prepared[14];
  const double direction_1 = prepared[0];
  const double prepared_11 = prepared[11];
  const double prepared_18 = prepared[18];
  const double q1_dot = y[2];
  const double direction_2 = prepared[16];
  const double prepared_1 = prepared[1];
  const double prepared_2 = prepared[2];
  const double prepared_12 = prepared[12];
  const double prepared_19 = prepared[19];
  const double direction_3 = prepared[17];
  const double q2_dot = y[3];
  const double r2 = prepared[5];
  const double direction_7 = prepared[6];
  const double prepared_10 = prepared[10];
  const double prepared_15 = prepared[15];
  const double prepared_3 = prepared[3];
  const double prepared_8 = prepared[8];
  const double prepared_4 = prepared[4];
  const double prepared_7 = prepared[7];
  const double prepared_21 = prepared[21];
  const double prepared_20 = prepared[20];
  const double t3 = sines[9];
  const double t2 = sines[1];
  const double t1 = sines[0];
  const double t0 = sines[8];
  const double t4 = direction_0 * t3;
  const double t5 = t4 * g;
  const double t6 = direction_4 * t2;
  const double t7 = t5 + t6;
  const double t8 = t7 * t1;
  const double t9 = direction_1 * t0;
  const double t10 = g * t2;
  const double t11 = t9 * t10;
  const double t12 = t8 + t11;
  const double t13 = t12 * prepared_11;
  const double t14 = t10 * t1;
  const double t15 = prepared_18 * t14;
  const double t16 = t13 + t15;
  const double t17 = t9 * q1_dot;
  const double t18 = direction_2 * t1;
  const double t19 = t17 + t18;
  const double t20 = q1_dot * t0;
  const double t21 = t19 * t20;
  const double t22 = direction_1 * t1;
  const double t23 = t22 * q1_dot;
  const double t24 = direction_2 * t0;
  const double t25 = t24 - t23;
  const double t26 = q1_dot * t1;
  const double t27 = t25 * t26;
  const double t28 = t21 + t27;
  const double t29 = t28 * prepared_1;
  const double t30 = t20 * t26;
  const double t31 = prepared_2 * t30;
  const double t32 = t29 + t31;
  const double t33 = t16 + t32;
  const double t34 = t33 * prepared_12;
  const double t35 = t14 * prepared_11;
  const double t36 = prepared_1 * t30;
  const double t37 = t35 + t36;
  const double t38 = prepared_19 * t37;
  const double t39 = t34 + t38;
  const double t40 = t28 * prepared_11;
  const double t41 = prepared_18 * t30;
  const double t42 = t40 + t41;
  const double t43 = t39 - t42;
  const double t44 = t43 * t1;
  const double t45 = t37 * prepared_12;
  const double t46 = prepared_11 * t30;
  const double t47 = t45 - t46;
  const double t48 = t9 * t47;
  const double t49 = t44 + t48;
  const double t50 = t25 * t20;
  const double t51 = 2.0 * t50;
  const double t52 = direction_3 * q2_dot;
  const double t53 = 2.0 * t52;
  const double t54 = t51 + t53;
  const double t55 = t54 * prepared_11;
  const double t56 = t20 * t20;
  const double t57 = q2_dot * q2_dot;
  const double t58 = t56 + t57;
  const double t59 = prepared_18 * t58;
  const double t60 = t55 + t59;
  const double t61 = t60 * t0;
  const double t62 = prepared_11 * t58;
  const double t63 = t22 * t62;
  const double t64 = t61 - t63;
  const double t65 = t64 - t49;
  const double t66 = t65 * r2;
  const double t67 = t47 * t1;
  const double t68 = t62 * t0;
  const double t69 = t68 - t67;
  const double t70 = direction_7 * t69;
  const double t71 = t66 + t70;
  const double t72 = t19 * q2_dot;
  const double t73 = direction_3 * t26;
  const double t74 = t72 + t73;
  const double t75 = 2.0 * t74;
  const double t76 = t75 * prepared_1;
  const double t77 = t26 * q2_dot;
  const double t78 = 2.0 * t77;
  const double t79 = prepared_2 * t78;
  const double t80 = t76 + t79;
  const double t81 = direction_2 * q1_dot;
  const double t82 = 2.0 * t81;
  const double t83 = t82 * r2;
  const double t84 = q1_dot * q1_dot;
  const double t85 = direction_7 * t84;
  const double t86 = t83 + t85;
  const double t87 = direction_0 * t2;
  const double t88 = t87 * g;
  const double t89 = direction_4 * t3;
  const double t90 = t89 - t88;
  const double t91 = t86 + t90;
  const double t92 = t91 * prepared_11;
  const double t93 = g * t3;
  const double t94 = t84 * r2;
  const double t95 = t93 + t94;
  const double t96 = prepared_18 * t95;
  const double t97 = t92 + t96;
  const double t98 = t80 + t97;
  const double t99 = t98 * t0;
  const double t100 = prepared_1 * t78;
  const double t101 = t95 * prepared_11;
  const double t102 = t101 + t100;
  const double t103 = t22 * t102;
  const double t104 = t103 - t99;
  const double t105 = t104 + t71;
  const double t106 = t7 * prepared_10;
  const double t107 = prepared_15 * t10;
  const double t108 = t106 + t107;
  const double t109 = t108 + t105;
  const double t110 = prepared_3 * t1;
  const double t111 = t110 * t1;
  const double t112 = t111 * r2;
  const double t113 = t112 * r2;
  const double t114 = prepared_1 * t1;
  const double t115 = t114 * t1;
  const double t116 = prepared_1 - t115;
  const double t117 = t116 - t113;
  const double t118 = t117 + prepared_8;
  const double t119 = 1.0 / t118;
  const double t120 = t109 * t119;
  const double t121 = t9 * prepared_3;
  const double t122 = prepared_4 * t1;
  const double t123 = t121 + t122;
  const double t124 = t123 * t1;
  const double t125 = t9 * t110;
  const double t126 = t124 + t125;
  const double t127 = t126 * r2;
  const double t128 = direction_7 * t111;
  const double t129 = t127 + t128;
  const double t130 = t129 * r2;
  const double t131 = direction_7 * t112;
  const double t132 = t130 + t131;
  const double t133 = t9 * prepared_1;
  const double t134 = prepared_2 * t1;
  const double t135 = t133 + t134;
  const double t136 = t135 * t1;
  const double t137 = t9 * t114;
  const double t138 = t137 + t136;
  const double t139 = prepared_2 - t138;
  const double t140 = t139 - t132;
  const double t141 = prepared_7 + t140;
  const double t142 = t119 / t118;
  const double t143 = t141 * t142;
  const double t144 = t69 * r2;
  const double t145 = t102 * t0;
  const double t146 = t144 - t145;
  const double t147 = t10 * prepared_10;
  const double t148 = t147 + t146;
  const double t149 = t143 * t148;
  const double t150 = t120 - t149;
  const double t151 = t150 * r2;
  const double t152 = t148 * t119;
  const double t153 = direction_7 * t152;
  const double t154 = t151 + t153;
  const double t155 = t154 * t1;
  const double t156 = t152 * r2;
  const double t157 = t9 * t156;
  const double t158 = t155 + t157;
  const double t159 = t158 * prepared_12;
  const double t160 = t156 * t1;
  const double t161 = prepared_19 * t160;
  const double t162 = t159 + t161;
  const double t163 = t33 * prepared_21;
  const double t164 = prepared_20 * t37;
  const double t165 = t164 - t163;
  const double t166 = t162 + t165;
  const double t167 = t149 - t120;
  z[0] = direction_2;
  z[1] = direction_3;
  z[2] = t167;
  z[3] = t166;
}
static TORSEUR_NOINLINE void program_tangent_prepare(const double *restrict p, const double *restrict d, double *restrict prepared) {
  const double l2 = p[4];
  const double m2 = p[2];
  const double direction_8 = d[8];
  const double direction_6 = d[6];
  const double r2 = p[3];
  const double direction_7 = d[7];
  const double direction_5 = d[5];
  const double m1 = p[1];
  const double direction_1 = d[1];
  const double g = p[0];
  const double direction_0 = d[0];
  const double direction_4 = d[4];
  const double direction_2 = d[2];
  const double direction_3 = d[3];
  const double t0 = l2 * l2;
  const double t1 = t0 * m2;
  const double t2 = 1.0 / t1;
  const double t3 = direction_8 * l2;
  const double t4 = t2 / t1;
  const double t5 = 2.0 * t3;
  const double t6 = t5 * m2;
  const double t7 = direction_6 * t0;
  const double t8 = t7 + t6;
  const double t9 = direction_6 * l2;
  const double t10 = direction_8 * m2;
  const double t11 = 0.5 * m2;
  const double t12 = 0.5 * direction_6;
  const double t13 = t8 * t4;
  const double t14 = l2 * m2;
  const double t15 = t9 + t10;
  const double t16 = t12 * r2;
  const double t17 = direction_7 * t11;
  const double t18 = direction_7 * r2;
  const double t19 = t13 * t14;
  const double t20 = t15 * t2;
  const double t21 = t11 * r2;
  const double t22 = 2.0 * r2;
  const double t23 = r2 * r2;
  const double t24 = t16 + t17;
  const double t25 = 2.0 * direction_7;
  const double t26 = 2.0 * t18;
  const double t27 = t20 - t19;
  const double t28 = direction_5 * r2;
  const double t29 = direction_7 * m1;
  const double t30 = direction_6 * r2;
  const double t31 = direction_7 * m2;
  const double t32 = t14 * t2;
  const double t33 = t24 * t22;
  const double t34 = t25 * t21;
  const double t35 = t26 * m1;
  const double t36 = direction_5 * t23;
  const double t37 = t28 + t29;
  const double t38 = t30 + t31;
  const double t39 = m1 * r2;
  const double t40 = m2 * r2;
  const double t41 = t21 * t22;
  const double t42 = m1 * t23;
  const double t43 = t33 + t34;
  const double t44 = t36 + t35;
  const double t45 = t27 * t14;
  const double t46 = t15 * t32;
  const double t47 = t37 + t38;
  const double t48 = t39 + t40;
  const double t49 = t42 + t41;
  const double t50 = t44 + t43;
  const double t51 = t45 + t46;
  const double t52 = t32 * t14;
  prepared[0] = direction_1;
  prepared[1] = t1;
  prepared[2] = t8;
  prepared[3] = t52;
  prepared[4] = t51;
  prepared[5] = r2;
  prepared[6] = direction_7;
  prepared[7] = t50;
  prepared[8] = t49;
  prepared[9] = g;
  prepared[10] = t48;
  prepared[11] = t14;
  prepared[12] = t32;
  prepared[13] = direction_0;
  prepared[14] = direction_4;
  prepared[15] = t47;
  prepared[16] = direction_2;
  prepared[17] = direction_3;
  prepared[18] = t15;
  prepared[19] = t27;
  prepared[20] = t13;
  prepared[21] = t2;
}

/* copy */
static void routine_copy(double * source, double * target, int64_t size) {
  int64_t i = 0;
  for (int64_t i_1 = 0, i_1_stop = size; i_1 < i_1_stop; i_1 += 1) {
    i = i_1;
    target[i] = source[i];
  }
}

/* The state brought back on its manifold, where there is one; how far a singular configuration is, at most 1. */
static double routine_settle(double t, double * state, double * p, double * out) {
  double distance = 0;
  distance = 1.0;
  routine_copy(state, out, 4);
  return distance;
}

/* Sets the time at which no step may go on: just before the next switch, or the end of the time span. */
static void routine_look_ahead(double * motion_floats, double * p) {
  motion_floats[2] = motion_floats[1];
}

/* Root mean square of a vector of states in units of the tolerance at y. */
static double routine_scaled_norm(double * values, double * y, double rtol, double * atol) {
  double total = 0;
  int64_t i = 0;
  double ratio = 0;
  total = 0.0;
  for (int64_t i_1 = 0; i_1 < 4; i_1 += 1) {
    i = i_1;
    ratio = values[i] / (atol[i] + (rtol * fabs(y[i])));
    total = total + (ratio * ratio);
  }
  return sqrt(total / 4.0);
}

/* Length of the first step, such that the terms of first and second order stay near 1 % of the tolerance's scale. */
static double routine_first_step(double * motion_floats, double * y, double * p, double * tolerance_floats, double * tolerance_atol, double * f, double * y_trial, double * f_trial, context *ctx) {
  double rtol = 0;
  double size = 0;
  double speed = 0;
  double span = 0;
  double trial = 0;
  int64_t i = 0;
  double curvature = 0;
  rtol = tolerance_floats[0];
  size = routine_scaled_norm(y, y, rtol, tolerance_atol);
  speed = routine_scaled_norm(f, y, rtol, tolerance_atol);
  span = fabs(motion_floats[1] - motion_floats[0]);
  trial = 1e-05 * span;
  if ((size > 1e-05) && (speed > 1e-05)) {
    trial = float_min((0.01 * size) / speed, motion_floats[5]);
  }
  for (int64_t i_1 = 0; i_1 < 4; i_1 += 1) {
    i = i_1;
    y_trial[i] = y[i] + ((motion_floats[3] * trial) * f[i]);
  }
  program_rhs((const double[1]){motion_floats[0] + (motion_floats[3] * trial)}, y_trial, ctx->program_rhs_prepared, f_trial);
  for (int64_t i_3 = 0; i_3 < 4; i_3 += 1) {
    i = i_3;
    f_trial[i] = (f_trial[i] - f[i]) / trial;
  }
  curvature = float_max(speed, routine_scaled_norm(f_trial, y, rtol, tolerance_atol));
  if ((!isfinite(curvature))) {
    return 0.01 * trial;
  }
  if (curvature <= 1e-15) {
    return float_min(100.0 * trial, motion_floats[5]);
  }
  return float_min(float_min(100.0 * trial, pow(0.01 / curvature, 0.125)), motion_floats[5]);
}

/* The next step, shortened or stretched by 1 % to end exactly at `t_stop`; 0 when it cannot move time. */
static double routine_signed_step(double * motion_floats) {
  double left = 0;
  left = fabs(motion_floats[2] - motion_floats[0]);
  if ((1.01 * motion_floats[4]) >= left) {
    return motion_floats[2] - motion_floats[0];
  }
  if ((0.1 * motion_floats[4]) <= (2.220446049250313e-16 * fabs(motion_floats[0]))) {
    return 0.0;
  }
  return motion_floats[3] * motion_floats[4];
}

/* Derivatives of the stages but for the first, which is given. y_stage ends as the state of the last. */
static void routine_evaluate_stages(double * t, double * h, double * y, double * p, double * k, double * y_stage, context *ctx) {
  double * t_stage = 0;
  double h_one = 0;
  int64_t i = 0;
  int64_t lane = 0;
  int64_t at = 0;
  double total = 0;
  double t_stage_1[1];
  memset(t_stage_1, 0, sizeof t_stage_1);
  t_stage = t_stage_1;
  h_one = h[0];
  for (int64_t i_4 = 0; i_4 < 4; i_4 += 1) {
    i = i_4;
    at = i;
    total = 0.05260015195876773 * k[at];
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.05260015195876773 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 4));
  for (int64_t i_10 = 0; i_10 < 4; i_10 += 1) {
    i = i_10;
    at = i;
    total = 0.0197250569845379 * k[at];
    total = total + (0.0591751709536137 * k[4 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.0789002279381516 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 8));
  for (int64_t i_17 = 0; i_17 < 4; i_17 += 1) {
    i = i_17;
    at = i;
    total = 0.02958758547680685 * k[at];
    total = total + (0.08876275643042054 * k[8 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.1183503419072274 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 12));
  for (int64_t i_25 = 0; i_25 < 4; i_25 += 1) {
    i = i_25;
    at = i;
    total = 0.2413651341592667 * k[at];
    total = total + ((-0.8845494793282861) * k[8 + at]);
    total = total + (0.924834003261792 * k[12 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.2816496580927726 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 16));
  for (int64_t i_34 = 0; i_34 < 4; i_34 += 1) {
    i = i_34;
    at = i;
    total = 0.037037037037037035 * k[at];
    total = total + (0.17082860872947386 * k[12 + at]);
    total = total + (0.12546768756682242 * k[16 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.3333333333333333 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 20));
  for (int64_t i_44 = 0; i_44 < 4; i_44 += 1) {
    i = i_44;
    at = i;
    total = 0.037109375 * k[at];
    total = total + (0.17025221101954405 * k[12 + at]);
    total = total + (0.06021653898045596 * k[16 + at]);
    total = total + ((-0.017578125) * k[20 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.25 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 24));
  for (int64_t i_55 = 0; i_55 < 4; i_55 += 1) {
    i = i_55;
    at = i;
    total = 0.03709200011850479 * k[at];
    total = total + (0.17038392571223998 * k[12 + at]);
    total = total + (0.10726203044637328 * k[16 + at]);
    total = total + ((-0.015319437748624402) * k[20 + at]);
    total = total + (0.008273789163814023 * k[24 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.3076923076923077 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 28));
  for (int64_t i_67 = 0; i_67 < 4; i_67 += 1) {
    i = i_67;
    at = i;
    total = 0.6241109587160757 * k[at];
    total = total + ((-3.3608926294469414) * k[12 + at]);
    total = total + ((-0.868219346841726) * k[16 + at]);
    total = total + (27.59209969944671 * k[20 + at]);
    total = total + (20.154067550477894 * k[24 + at]);
    total = total + ((-43.48988418106996) * k[28 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.6512820512820513 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 32));
  for (int64_t i_80 = 0; i_80 < 4; i_80 += 1) {
    i = i_80;
    at = i;
    total = 0.47766253643826434 * k[at];
    total = total + ((-2.4881146199716677) * k[12 + at]);
    total = total + ((-0.590290826836843) * k[16 + at]);
    total = total + (21.230051448181193 * k[20 + at]);
    total = total + (15.279233632882423 * k[24 + at]);
    total = total + ((-33.28821096898486) * k[28 + at]);
    total = total + ((-0.020331201708508627) * k[32 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.6 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 36));
  for (int64_t i_94 = 0; i_94 < 4; i_94 += 1) {
    i = i_94;
    at = i;
    total = (-0.9371424300859873) * k[at];
    total = total + (5.186372428844064 * k[12 + at]);
    total = total + (1.0914373489967295 * k[16 + at]);
    total = total + ((-8.149787010746927) * k[20 + at]);
    total = total + ((-18.52006565999696) * k[24 + at]);
    total = total + (22.739487099350505 * k[28 + at]);
    total = total + (2.4936055526796523 * k[32 + at]);
    total = total + ((-3.0467644718982196) * k[36 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (0.8571428571428571 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 40));
  for (int64_t i_109 = 0; i_109 < 4; i_109 += 1) {
    i = i_109;
    at = i;
    total = 2.273310147516538 * k[at];
    total = total + ((-10.53449546673725) * k[12 + at]);
    total = total + ((-2.0008720582248625) * k[16 + at]);
    total = total + ((-17.9589318631188) * k[20 + at]);
    total = total + (27.94888452941996 * k[24 + at]);
    total = total + ((-2.8589982771350235) * k[28 + at]);
    total = total + ((-8.87285693353063) * k[32 + at]);
    total = total + (12.360567175794303 * k[36 + at]);
    total = total + (0.6433927460157636 * k[40 + at]);
    y_stage[at] = y[at] + (h_one * total);
    lane = 0;
  }
  program_rhs((const double[1]){t[0] + (1.0 * h_one)}, y_stage, ctx->program_rhs_prepared, (k + 44));
}

/* State at the end of the step. */
static void routine_solution(double * h, double * y, double * k, double * y_end) {
  double h_one = 0;
  int64_t i = 0;
  int64_t lane = 0;
  int64_t at = 0;
  double total = 0;
  h_one = h[0];
  for (int64_t i_1 = 0; i_1 < 4; i_1 += 1) {
    i = i_1;
    at = i;
    total = 0.054293734116568765 * k[at];
    total = total + (4.450312892752409 * k[20 + at]);
    total = total + (1.8915178993145003 * k[24 + at]);
    total = total + ((-5.801203960010585) * k[28 + at]);
    total = total + (0.3111643669578199 * k[32 + at]);
    total = total + ((-0.1521609496625161) * k[36 + at]);
    total = total + (0.20136540080403034 * k[40 + at]);
    total = total + (0.04471061572777259 * k[44 + at]);
    y_end[at] = y[at] + (h_one * total);
    lane = 0;
  }
}

/* Estimated error of the step of each lane in units of the tolerance, root mean square over the states. */
static void routine_estimate_errors(double * h, double * y, double * y_end, double * k, double rtol, double * atol, double * error) {
  double * square5 = 0;
  double * square3 = 0;
  double * size = 0;
  int64_t i = 0;
  int64_t lane = 0;
  int64_t at = 0;
  double e5 = 0;
  double e3 = 0;
  double scale = 0;
  double denominator = 0;
  double square5_1[1];
  double square3_2[1];
  double size_3[1];
  memset(square5_1, 0, sizeof square5_1);
  square5 = square5_1;
  memset(square3_2, 0, sizeof square3_2);
  square3 = square3_2;
  memset(size_3, 0, sizeof size_3);
  size = size_3;
  for (int64_t i_4 = 0; i_4 < 4; i_4 += 1) {
    i = i_4;
    at = i;
    e5 = 0.0;
    e3 = 0.0;
    e5 = e5 + (0.01312004499419488 * k[at]);
    e3 = e3 + ((-0.18980075407240762) * k[at]);
    e5 = e5 + ((-1.2251564463762044) * k[20 + at]);
    e3 = e3 + (4.450312892752409 * k[20 + at]);
    e5 = e5 + ((-0.4957589496572502) * k[24 + at]);
    e3 = e3 + (1.8915178993145003 * k[24 + at]);
    e5 = e5 + (1.6643771824549864 * k[28 + at]);
    e3 = e3 + ((-5.801203960010585) * k[28 + at]);
    e5 = e5 + ((-0.35032884874997366) * k[32 + at]);
    e3 = e3 + ((-0.4226823213237919) * k[32 + at]);
    e5 = e5 + (0.3341791187130175 * k[36 + at]);
    e3 = e3 + ((-0.1521609496625161) * k[36 + at]);
    e5 = e5 + (0.08192320648511571 * k[40 + at]);
    e3 = e3 + (0.20136540080403034 * k[40 + at]);
    e5 = e5 + ((-0.022355307863886294) * k[44 + at]);
    e3 = e3 + (0.02265179219836082 * k[44 + at]);
    scale = atol[at] + (rtol * float_max(fabs(y[at]), fabs(y_end[at])));
    square5[0] = square5[0] + ((e5 / scale) * (e5 / scale));
    square3[0] = square3[0] + ((e3 / scale) * (e3 / scale));
    size[0] = size[0] + scale;
    lane = 0;
  }
  denominator = square5[0] + (0.01 * square3[0]);
  error[0] = 0.0;
  if ((!isfinite(size[0]))) {
    error[0] = NAN;
  }
  else {
    if (denominator != 0.0) {
      error[0] = (fabs(h[0]) * square5[0]) / sqrt(denominator * 4.0);
    }
  }
  lane = 0;
}

/* all_finite */
static bool routine_all_finite(double * values) {
  double total = 0;
  int64_t i = 0;
  total = 0.0;
  for (int64_t i_1 = 0; i_1 < 4; i_1 += 1) {
    i = i_1;
    total = total + fabs(values[i]);
  }
  return isfinite(total);
}

/* Sets the next step after one of length h was refused. */
static void routine_shorten(double * motion_floats, int64_t * motion_ints, double h, double error) {
  motion_ints[10] = ((int64_t)(!isfinite(error)));
  if (motion_ints[10] != 0) {
    motion_floats[4] = fabs(h) / 10.0;
  }
  else {
    motion_floats[4] = fabs(h) / float_min(3.0, pow(error, 0.11499999999999999) / 0.87);
  }
  motion_ints[9] = 1;
}

/* Sets the next step after one of length h was accepted with this error. */
static void routine_lengthen(double * motion_floats, int64_t * motion_ints, double h, double error) {
  double bounded = 0;
  double factor = 0;
  bounded = float_max(error, 1e-10);
  factor = (0.87 * pow(motion_floats[6], 0.05)) / pow(bounded, 0.11499999999999999);
  factor = float_min(6.0, float_max(0.3333333333333333, factor));
  if (motion_ints[9] != 0) {
    factor = float_min(factor, 1.0);
  }
  motion_floats[4] = float_min(fabs(h) * factor, motion_floats[5]);
  motion_floats[6] = float_max(error, 0.0001);
  motion_ints[9] = 0;
}

/* Takes a step and chooses the length of the next; false when its error is too large. */
static bool routine_attempt(double h, double * motion_floats, int64_t * motion_ints, double * y, double * p, double * tolerance_floats, double * tolerance_atol, double * step_floats, context *ctx) {
  double proposed = 0;
  double * error = 0;
  double error_1[1];
  proposed = motion_floats[4];
  memset(error_1, 0, sizeof error_1);
  error = error_1;
  step_floats[84] = motion_floats[0];
  step_floats[85] = h;
  routine_evaluate_stages((step_floats + 84), (step_floats + 85), y, p, step_floats, (step_floats + 64), ctx);
  routine_solution((step_floats + 85), y, step_floats, (step_floats + 68));
  routine_estimate_errors((step_floats + 85), y, (step_floats + 68), step_floats, tolerance_floats[0], tolerance_atol, error);
  if (error[0] <= 1.0) {
    routine_settle(motion_floats[0] + h, (step_floats + 68), p, (step_floats + 72));
    error[0] = routine_all_finite((step_floats + 72)) ? error[0] : NAN;
  }
  if ((!(error[0] <= 1.0))) {
    routine_shorten(motion_floats, motion_ints, h, error[0]);
    return 0;
  }
  routine_lengthen(motion_floats, motion_ints, h, error[0]);
  if (fabs(h) < proposed) {
    motion_floats[4] = float_max(motion_floats[4], proposed);
  }
  return 1;
}

/* Time at the end of the step, exactly `t_stop` when it gets there. */
static double routine_time_after(double h, double * motion_floats) {
  double t = 0;
  bool arrives = 0;
  t = motion_floats[0] + h;
  arrives = (h == (motion_floats[2] - motion_floats[0])) || (((motion_floats[2] - t) * motion_floats[3]) <= 0.0);
  return arrives ? motion_floats[2] : t;
}

/* Whether the present time is that of a switch. */
static bool routine_is_at_switch(void) {
  return 0;
}

/* Half the time that is left out at a switch. */
static double routine_gap_at(double t, double * motion_floats) {
  return 1.7763568394002505e-15 * float_max(fabs(t), fabs(motion_floats[1]));
}

/* Goes on just behind a switch; dy is the derivative before it, and then the one behind it. */
static void routine_cross_switch(double * motion_floats, int64_t * motion_ints, double * y, double * p, double * dy, context *ctx) {
  double gap = 0;
  int64_t i = 0;
  gap = motion_floats[3] * routine_gap_at(motion_floats[0], motion_floats);
  for (int64_t i_1 = 0; i_1 < 4; i_1 += 1) {
    i = i_1;
    y[i] = y[i] + (gap * dy[i]);
  }
  motion_floats[0] = motion_floats[0] + (2.0 * gap);
  program_rhs((const double[1]){motion_floats[0]}, y, ctx->program_rhs_prepared, dy);
  for (int64_t i_3 = 0; i_3 < 4; i_3 += 1) {
    i = i_3;
    y[i] = y[i] + (gap * dy[i]);
  }
  motion_ints[4] = motion_ints[4] + 1;
  routine_look_ahead(motion_floats, p);
}

/* Moves y to t_end. `pace` is the relative tolerance and, from one call to the next, the length of the steps. */
static int64_t routine_advance(double t, double t_end, double * pace, double * y, double * p, double * atol, context *ctx) {
  double * tolerance_floats = 0;
  double * tolerance_atol = 0;
  double * motion_floats = 0;
  int64_t * motion_ints = 0;
  double * step_floats = 0;
  int64_t attempts = 0;
  double h = 0;
  double tolerance_floats_1[1];
  double motion_floats_2[12];
  int64_t motion_ints_3[16];
  double step_floats_4[129];
  int64_t step_ints_5[5];
  memset(tolerance_floats_1, 0, sizeof tolerance_floats_1);
  tolerance_floats = tolerance_floats_1;
  tolerance_atol = atol;
  tolerance_floats[0] = pace[0];
  memset(motion_floats_2, 0, sizeof motion_floats_2);
  motion_floats = motion_floats_2;
  motion_floats[3] = 1.0;
  motion_floats[6] = 0.0001;
  motion_floats[9] = 1.0;
  motion_floats[10] = 1.0;
  motion_floats[11] = 1.0;
  memset(motion_ints_3, 0, sizeof motion_ints_3);
  motion_ints = motion_ints_3;
  motion_floats[0] = t;
  motion_floats[1] = t_end;
  motion_floats[5] = fabs(t_end - t);
  motion_floats[4] = pace[1];
  motion_floats[3] = (t_end >= t) ? 1.0 : (-1.0);
  memset(step_floats_4, 0, sizeof step_floats_4);
  step_floats = step_floats_4;
  program_rhs((const double[1]){t}, y, ctx->program_rhs_prepared, step_floats);
  routine_look_ahead(motion_floats, p);
  if (motion_floats[4] == 0.0) {
    motion_floats[4] = routine_first_step(motion_floats, y, p, tolerance_floats, tolerance_atol, step_floats, (step_floats + 64), (step_floats + 68), ctx);
  }
  attempts = 0;
  while (motion_floats[0] != t_end) {
    h = routine_signed_step(motion_floats);
    attempts = attempts + 1;
    if ((h == 0.0) || (attempts > 1000000)) {
      return 1;
    }
    if (routine_attempt(h, motion_floats, motion_ints, y, p, tolerance_floats, tolerance_atol, step_floats, ctx)) {
      routine_copy((step_floats + 72), y, 4);
      motion_floats[0] = routine_time_after(h, motion_floats);
      program_rhs((const double[1]){motion_floats[0]}, y, ctx->program_rhs_prepared, step_floats);
      if (routine_is_at_switch()) {
        routine_cross_switch(motion_floats, motion_ints, y, p, step_floats, ctx);
      }
    }
  }
  pace[1] = motion_floats[4];
  return 0;
}

/* The next time at which the equations switch; a host that integrates them by itself must not step over it. */
static double routine_switch_after(double t, double * p) {
  double * ahead = 0;
  double ahead_1[1];
  memset(ahead_1, 0, sizeof ahead_1);
  ahead = ahead_1;
  ahead[0] = 1e+300;
  return t + ahead[0];
}

/* Does what the number stands for; 0 is success. A tangent finds its direction in atol. */
static int64_t routine_task(int64_t number, double t, double t_end, double * pace, double * y, double * p, double * atol, double * out, context *ctx) {
  double distance = 0;
  if (number == 0) {
    program_rhs((const double[1]){t}, y, ctx->program_rhs_prepared, out);
    return 0;
  }
  if (number == 1) {
    return 0;
  }
  if (number == 2) {
    distance = routine_settle(t, y, p, out);
    return (distance >= 0.0) ? 0 : 1;
  }
  if (number == 3) {
    return routine_advance(t, t_end, pace, y, p, atol, ctx);
  }
  if (number == 5) {
    out[0] = routine_switch_after(t, p);
    return 0;
  }
  if (number == 4) {
    program_tangent(y, (const double[1]){t}, ctx->program_tangent_prepared, out);
    return 0;
  }
  return 1;
}

TORSEUR_EXPORT int64_t double_pendulum_task(int64_t number, double t, double t_end, double * pace, double * y, double * p, double * atol, double * out, void **callbacks, int64_t *failed) {
  context unit = {0};
  (void)callbacks;
  double program_rhs_prepared[9];
  program_rhs_prepare(p, program_rhs_prepared);
  unit.program_rhs_prepared = program_rhs_prepared;
  double program_tangent_prepared[22];
  program_tangent_prepare(p, atol, program_tangent_prepared);
  unit.program_tangent_prepared = program_tangent_prepared;
  int64_t result = routine_task(number, t, t_end, pace, y, p, atol, out, &unit);
  *failed = unit.failed;
  return result;
}
