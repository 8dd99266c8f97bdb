// puma560: inverse_dynamics
// Puma 560 arm, six revolute joints
// Written in CUDA C++ by torseur. SI units.
//
// q[0]: q1 in rad
// q[1]: q2 in rad
// q[2]: q3 in rad
// q[3]: q4 in rad
// q[4]: q5 in rad
// q[5]: q6 in rad
//
// v[0]: q1' in rad/s, rate of q1
// v[1]: q2' in rad/s, rate of q2
// v[2]: q3' in rad/s, rate of q3
// v[3]: q4' in rad/s, rate of q4
// v[4]: q5' in rad/s, rate of q5
// v[5]: q6' in rad/s, rate of q6
//
// vdot[0]: q1'' in rad/s^2, rate of q1'
// vdot[1]: q2'' in rad/s^2, rate of q2'
// vdot[2]: q3'' in rad/s^2, rate of q3'
// vdot[3]: q4'' in rad/s^2, rate of q4'
// vdot[4]: q5'' in rad/s^2, rate of q5'
// vdot[5]: q6'' in rad/s^2, rate of q6'
//
// p[0]: g = 9.81 m/s^2, gravity
// p[1]: a2 = 0.4318 m, length of the upper arm
// p[2]: a3 = -0.0203 m, offset of the elbow
// p[3]: d2 = 0.2435 m, offset of the shoulder
// p[4]: d3 = -0.0934 m, offset of the forearm
// p[5]: d4 = 0.4331 m, length of the forearm
// p[6]: goal1 = 1.04719755 rad, goal of the waist
// p[7]: goal2 = -1.04719755 rad, goal of the shoulder
// p[8]: goal3 = 2.61799388 rad, goal of the elbow
// p[9]: goal4 = 0.698131701 rad, goal of the forearm
// p[10]: goal5 = 1.04719755 rad, goal of the wrist
// p[11]: goal6 = 1.57079633 rad, goal of the hand
// p[12]: k1 = 60 N*m, stiffness of servo 1
// p[13]: k2 = 300 N*m, stiffness of servo 2
// p[14]: k3 = 80 N*m, stiffness of servo 3
// p[15]: k4 = 0.8 N*m, stiffness of servo 4
// p[16]: k5 = 0.8 N*m, stiffness of servo 5
// p[17]: k6 = 0.004 N*m, stiffness of servo 6
// p[18]: c1 = 30 N*m*s, damping of servo 1
// p[19]: c2 = 80 N*m*s, damping of servo 2
// p[20]: c3 = 20 N*m*s, damping of servo 3
// p[21]: c4 = 0.15 N*m*s, damping of servo 4
// p[22]: c5 = 0.15 N*m*s, damping of servo 5
// p[23]: c6 = 0.001 N*m*s, damping of servo 6
#pragma once

#if defined(__CUDACC__)
#define TORSEUR_DEVICE __device__ __forceinline__
#define TORSEUR_RESTRICT __restrict__
#define TORSEUR_TABLE static __device__ const
#define TORSEUR_UNROLL _Pragma("unroll")
#define TORSEUR_ROLLED _Pragma("unroll 1")
#ifndef TORSEUR_BLOCK
#define TORSEUR_BLOCK 64
#endif
#ifndef TORSEUR_BOUNDS
#define TORSEUR_BOUNDS __launch_bounds__(TORSEUR_BLOCK)
#endif
/* Room in shared memory for values of this thread that are not needed for a while. */
#define TORSEUR_SPILL(F, slots)                  \
  extern __shared__ double spilled_of_block[];   \
  volatile F *const spilled = (volatile F *)spilled_of_block + threadIdx.x;
#else
#include <cmath>
#include <cstring>
#define TORSEUR_DEVICE static inline
#define TORSEUR_RESTRICT __restrict__
#define TORSEUR_TABLE static const
#define TORSEUR_UNROLL
#define TORSEUR_ROLLED
#define TORSEUR_BLOCK 1
#define TORSEUR_SPILL(F, slots) F spilled[slots];
using std::abs; using std::acos; using std::asin; using std::atan; using std::atan2; using std::cos; using std::cosh;
using std::exp; using std::floor; using std::log; using std::pow; using std::sin; using std::sinh; using std::sqrt;
using std::tan; using std::tanh; using std::fma;
#endif

/* Entries that are zero for every state: stored, unless the caller's arrays hold zeros already. */
#if defined(TORSEUR_ZEROS_ARE_THERE)
#define TORSEUR_ZERO(place)
#else
#define TORSEUR_ZERO(place) place = T(0)
#endif

#ifndef TORSEUR_SINE_COSINE
#define TORSEUR_SINE_COSINE
#if defined(__CUDACC__)
/* n, as a number of this thread (lane < n): products with a number that all threads share are computed apart from the
   addresses they are added to, which takes three instructions where one does both. */
TORSEUR_DEVICE unsigned stride_of(unsigned n, unsigned lane) {
  unsigned stride;
  asm("max.u32 %0, %1, %2;" : "=r"(stride) : "r"(n), "r"(lane));
  return stride;
}
#endif

/* Without branches: the nearest multiple of pi/2 is taken off in three parts, then polynomials, whose error is below
   4e-9. Single precision up to about 1e4 rad; a float has no digits left for larger angles anyway. */
TORSEUR_DEVICE int bits_of(float x) {
#if defined(__CUDACC__)
  return __float_as_int(x);
#else
  int bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

TORSEUR_DEVICE float of_bits(int bits) {
#if defined(__CUDACC__)
  return __int_as_float(bits);
#else
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

#if defined(TORSEUR_FAST_SINES) && defined(__CUDACC__)
/* The special function unit, which takes off whole turns itself: absolute errors up to 5e-7, and what two units in
   the last place of the angle make. A third of the time. */
TORSEUR_DEVICE void sine_cosine(float x, float *s, float *c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
#else
TORSEUR_DEVICE void sine_cosine(float x, float *s, float *c) {
  /* Added to a number below 2^22, 1.5 * 2^23 leaves the nearest integer in the last bits. */
  const float magic = 12582912.0f;
  const float shifted = fma(x, 0.6366197723675814f, magic);
  const float turns = shifted - magic;
  /* The first product leaves no rounding error: the difference is a multiple of the last bit of pi/2. */
  const float r = fma(turns, 4.37113900018624283e-8f, fma(turns, -1.57079637050628662f, x));
  const float z = r * r;
  const float u = fma(fma(-1.951729888e-4f, z, 8.332178145e-3f), z, -1.666665494e-1f);
  const float w = fma(fma(2.443845142e-5f, z, -1.388736751e-3f), z, 4.166664687e-2f);
  const float sine = fma(u * z, r, r);
  const float cosine = fma(fma(w, z, -0.5f), z, 1.0f);
  const unsigned quarter = (unsigned)bits_of(shifted), upper = quarter << 30;
  const float a = (quarter & 1u) ? cosine : sine;
  const float b = (quarter & 1u) ? sine : cosine;
  *s = of_bits(bits_of(a) ^ (int)(upper & 0x80000000u));
  *c = of_bits(bits_of(b) ^ (int)((upper ^ (upper << 1)) & 0x80000000u));
}
#endif

TORSEUR_DEVICE int low_bits_of(double x) {
#if defined(__CUDACC__)
  return __double2loint(x);
#else
  long long bits;
  std::memcpy(&bits, &x, sizeof bits);
  return (int)bits;
#endif
}

/* x with the bits of its upper half that are set in `sign` turned over. */
TORSEUR_DEVICE double flipped(double x, int sign) {
#if defined(__CUDACC__)
  return __hiloint2double(__double2hiint(x) ^ sign, __double2loint(x));
#else
  return sign ? -x : x;
#endif
}

/* Twice as many digits: errors below one unit in the last place up to 1e6 rad. */
TORSEUR_DEVICE void sine_cosine(double x, double *s, double *c) {
  const double magic = 6755399441055744.0;
  const double shifted = fma(x, 0.6366197723675814, magic);
  const double turns = shifted - magic;
  const int quarter = low_bits_of(shifted);
  double r = fma(turns, -1.5707963267948966, x);
  r = fma(turns, -6.123233995736766e-17, r);
  const double z = r * r;
  double u = fma(1.58969099521155010221e-10, z, -2.50507602534068634195e-8);
  u = fma(fma(u, z, 2.75573137070700676789e-6), z, -1.98412698298579493134e-4);
  u = fma(fma(u, z, 8.33333333332248946124e-3), z, -1.66666666666666324348e-1);
  double w = fma(-1.13596475577881948265e-11, z, 2.08757232129817482790e-9);
  w = fma(fma(w, z, -2.75573143513906633035e-7), z, 2.48015872894767294178e-5);
  w = fma(fma(w, z, -1.38888888888741095749e-3), z, 4.16666666666666019037e-2);
  const double sine = fma(u * z, r, r);
  const double cosine = fma(w, z * z, fma(z, -0.5, 1.0));
  const double a = (quarter & 1) ? cosine : sine;
  const double b = (quarter & 1) ? sine : cosine;
  *s = flipped(a, (quarter & 2) << 30);
  *c = flipped(b, ((quarter + 1) & 2) << 30);
}
#endif

namespace puma560 {

template <class T, int N> struct values_of { T values[N]; };

constexpr double parameters[24] = {9.81, 0.4318, -0.0203, 0.2435, -0.0934, 0.4331, 1.0471975511965976, -1.0471975511965976, 2.6179938779914944, 0.6981317007977318, 1.0471975511965976, 1.5707963267948966, 60.0, 300.0, 80.0, 0.8, 0.8, 0.004, 30.0, 80.0, 20.0, 0.15, 0.15, 0.001};

// inverse_dynamics: 467 operations (234 multiplication, 223 addition, 10 trigonometric)
// of these, 68 depend on parameters only: inverse_dynamics_prepare computes 38 values
// inputs: q (6), v (6), vdot (6), prepared (38)
// outputs: tau (6)
template <class T, class F = T>
TORSEUR_DEVICE void inverse_dynamics_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared, long long stride) {
  const T a3 = p[2 * stride];
  const T d4 = p[5 * stride];
  const T a2 = p[1 * stride];
  const T d3 = p[4 * stride];
  const T d2 = p[3 * stride];
  const T t0 = T(1.25) * a3;
  prepared[7 * stride] = t0;
  const T t1 = a3 * a3;
  const T t2 = T(1.25) * t1;
  const T t3 = T(0.013440800000000001) + t2;
  const T t4 = T(0.625) * a3;
  const T t5 = t4 * d4;
  const T t6 = T(2.0) * d4;
  const T t7 = T(0.625) * d4;
  const T t8 = T(0.015579999999999998) - t7;
  const T t9 = t6 * t8;
  const T t10 = a3 * t8;
  const T t11 = t5 - t10;
  prepared[9 * stride] = t11;
  const T t12 = t2 - t9;
  const T t13 = T(0.0014460200000000003) - t9;
  const T t14 = T(0.09046080000000001) + t13;
  const T t15 = T(0.0014460200000000003) + t12;
  const T t16 = T(0.08952) + t15;
  const T t17 = T(1.25) * d4;
  const T t18 = T(0.015579999999999998) - t17;
  const T t19 = T(-0.336) + t18;
  prepared[14 * stride] = t19;
  const T t20 = t3 + t14;
  const T t21 = t20 - t16;
  const T t22 = T(0.5) * t21;
  const T t23 = t3 - t22;
  prepared[8 * stride] = t23;
  const T t24 = t14 - t22;
  prepared[13 * stride] = t24;
  const T t25 = t23 - t24;
  prepared[20 * stride] = t25;
  const T t26 = t23 + t24;
  prepared[19 * stride] = t26;
  const T t27 = a2 * a2;
  const T t28 = T(6.05) * t27;
  const T t29 = T(0.6200840000000001) + t28;
  const T t30 = T(6.05) * a2;
  const T t31 = T(1.1832) + t30;
  prepared[4 * stride] = t31;
  const T t32 = T(3.025) * a2;
  const T t33 = t32 * d3;
  const T t34 = T(3.025) * d3;
  const T t35 = T(0.0672) + t34;
  const T t36 = a2 * t35;
  const T t37 = t36 + t33;
  const T t38 = T(0.018931200000000002) - t37;
  prepared[1 * stride] = t38;
  const T t39 = T(2.0) * d3;
  const T t40 = t35 * t39;
  const T t41 = t28 + t40;
  const T t42 = t41 + t22;
  const T t43 = t22 + t40;
  const T t44 = T(0.608912) + t42;
  const T t45 = T(0.1350808) + t43;
  const T t46 = T(6.05) * d3;
  const T t47 = T(0.0672) + t46;
  const T t48 = T(-0.2784) + t47;
  const T t49 = t44 + t45;
  const T t50 = t49 - t29;
  const T t51 = T(0.5) * t50;
  const T t52 = t44 - t51;
  prepared[2 * stride] = t52;
  const T t53 = t45 - t51;
  prepared[15 * stride] = t53;
  const T t54 = t52 + t53;
  prepared[22 * stride] = t54;
  const T t55 = t52 - t53;
  prepared[21 * stride] = t55;
  const T t56 = T(2.0) * d2;
  const T t57 = T(11.725) * d2;
  const T t58 = t57 + t48;
  const T t59 = t56 * t58;
  const T t60 = t51 + t59;
  const T t61 = T(0.35) + t60;
  const T t62 = T(0.7) + t60;
  const T t63 = t62 - t61;
  const T t64 = T(0.5) * t63;
  const T t65 = t61 - t64;
  const T t66 = T(0.35) - t64;
  const T t67 = t65 + t66;
  prepared[0 * stride] = t67;
  prepared[3 * stride] = d2;
  prepared[5 * stride] = a2;
  prepared[6 * stride] = d3;
  const T g = p[0 * stride];
  prepared[10 * stride] = g;
  prepared[11 * stride] = d4;
  prepared[12 * stride] = a3;
  const T c1 = p[18 * stride];
  prepared[16 * stride] = c1;
  const T goal1 = p[6 * stride];
  prepared[17 * stride] = goal1;
  const T k1 = p[12 * stride];
  prepared[18 * stride] = k1;
  const T c2 = p[19 * stride];
  prepared[23 * stride] = c2;
  const T goal2 = p[7 * stride];
  prepared[24 * stride] = goal2;
  const T k2 = p[13 * stride];
  prepared[25 * stride] = k2;
  const T c3 = p[20 * stride];
  prepared[26 * stride] = c3;
  const T goal3 = p[8 * stride];
  prepared[27 * stride] = goal3;
  const T k3 = p[14 * stride];
  prepared[28 * stride] = k3;
  const T c4 = p[21 * stride];
  prepared[29 * stride] = c4;
  const T goal4 = p[9 * stride];
  prepared[30 * stride] = goal4;
  const T k4 = p[15 * stride];
  prepared[31 * stride] = k4;
  const T c5 = p[22 * stride];
  prepared[32 * stride] = c5;
  const T goal5 = p[10 * stride];
  prepared[33 * stride] = goal5;
  const T k5 = p[16 * stride];
  prepared[34 * stride] = k5;
  const T c6 = p[23 * stride];
  prepared[35 * stride] = c6;
  const T goal6 = p[11 * stride];
  prepared[36 * stride] = goal6;
  const T k6 = p[17 * stride];
  prepared[37 * stride] = k6;
}

template <class T, class F = T>
TORSEUR_DEVICE void inverse_dynamics(const T *TORSEUR_RESTRICT q, const T *TORSEUR_RESTRICT v, const T *TORSEUR_RESTRICT vdot, const F *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT tau, long long stride) {
  const T q1 = q[0 * stride];
  const F goal1_f_ = prepared[17];
  const T goal1 = T(goal1_f_);
  const F k1_f_ = prepared[18];
  const T k1 = T(k1_f_);
  const F prepared_0_f_ = prepared[0];
  const T prepared_0 = T(prepared_0_f_);
  const T q1_ddot = vdot[0 * stride];
  const T q2_dot = v[1 * stride];
  const F c2_f_ = prepared[23];
  const T c2 = T(c2_f_);
  const T q2 = q[1 * stride];
  const F goal2_f_ = prepared[24];
  const T goal2 = T(goal2_f_);
  const F k2_f_ = prepared[25];
  const T k2 = T(k2_f_);
  const F d2_f_ = prepared[3];
  const T d2 = T(d2_f_);
  const T q1_dot = v[0 * stride];
  const F prepared_1_f_ = prepared[1];
  const T prepared_1 = T(prepared_1_f_);
  const F prepared_2_f_ = prepared[2];
  const T prepared_2 = T(prepared_2_f_);
  const F prepared_15_f_ = prepared[15];
  const T prepared_15 = T(prepared_15_f_);
  const F c1_f_ = prepared[16];
  const T c1 = T(c1_f_);
  const F d3_f_ = prepared[6];
  const T d3 = T(d3_f_);
  const T q3_dot = v[2 * stride];
  const F a2_f_ = prepared[5];
  const T a2 = T(a2_f_);
  const F prepared_4_f_ = prepared[4];
  const T prepared_4 = T(prepared_4_f_);
  const F prepared_21_f_ = prepared[21];
  const T prepared_21 = T(prepared_21_f_);
  const F c3_f_ = prepared[26];
  const T c3 = T(c3_f_);
  const T q2_ddot = vdot[1 * stride];
  const T q3_ddot = vdot[2 * stride];
  const F prepared_22_f_ = prepared[22];
  const T prepared_22 = T(prepared_22_f_);
  const F prepared_19_f_ = prepared[19];
  const T prepared_19 = T(prepared_19_f_);
  const F prepared_7_f_ = prepared[7];
  const T prepared_7 = T(prepared_7_f_);
  const T q3 = q[2 * stride];
  const F goal3_f_ = prepared[27];
  const T goal3 = T(goal3_f_);
  const F k3_f_ = prepared[28];
  const T k3 = T(k3_f_);
  const F prepared_8_f_ = prepared[8];
  const T prepared_8 = T(prepared_8_f_);
  const T q4_dot = v[3 * stride];
  const F prepared_20_f_ = prepared[20];
  const T prepared_20 = T(prepared_20_f_);
  const F prepared_13_f_ = prepared[13];
  const T prepared_13 = T(prepared_13_f_);
  const F a3_f_ = prepared[12];
  const T a3 = T(a3_f_);
  const F prepared_9_f_ = prepared[9];
  const T prepared_9 = T(prepared_9_f_);
  const F c4_f_ = prepared[29];
  const T c4 = T(c4_f_);
  const F g_f_ = prepared[10];
  const T g = T(g_f_);
  const F d4_f_ = prepared[11];
  const T d4 = T(d4_f_);
  const F prepared_14_f_ = prepared[14];
  const T prepared_14 = T(prepared_14_f_);
  const T q4 = q[3 * stride];
  const F goal4_f_ = prepared[30];
  const T goal4 = T(goal4_f_);
  const F k4_f_ = prepared[31];
  const T k4 = T(k4_f_);
  const T q5_ddot = vdot[4 * stride];
  const T q5_dot = v[4 * stride];
  const F c5_f_ = prepared[32];
  const T c5 = T(c5_f_);
  const T q4_ddot = vdot[3 * stride];
  const T q5 = q[4 * stride];
  const F goal5_f_ = prepared[33];
  const T goal5 = T(goal5_f_);
  const F k5_f_ = prepared[34];
  const T k5 = T(k5_f_);
  const T q6_ddot = vdot[5 * stride];
  const T q6_dot = v[5 * stride];
  const F c6_f_ = prepared[35];
  const T c6 = T(c6_f_);
  const T q6 = q[5 * stride];
  const F goal6_f_ = prepared[36];
  const T goal6 = T(goal6_f_);
  const F k6_f_ = prepared[37];
  const T k6 = T(k6_f_);
  const T t0 = q1 - goal1;
  const T t1 = k1 * t0;
  const T t2 = prepared_0 * q1_ddot;
  const T t3 = q2_dot * q2_dot;
  const T t4 = c2 * q2_dot;
  T t5_s_, t6_c_; sine_cosine(q2, &t5_s_, &t6_c_);
  const T t5 = t5_s_;
  const T t6 = t6_c_;
  const T t7 = q2 - goal2;
  const T t8 = k2 * t7;
  const T t9 = t4 + t8;
  const T t10 = q1_ddot * t6;
  const T t11 = q1_ddot * t5;
  const T t12 = d2 * q1_ddot;
  const T t13 = t12 * t5;
  const T t14 = t12 * t6;
  const T t15 = q1_dot * t5;
  const T t16 = t15 * t15;
  const T t17 = t3 - t16;
  const T t18 = prepared_1 * t17;
  const T t19 = t15 * q2_dot;
  const T dw_link2_y = t19 - t10;
  const T t21 = dw_link2_y + t19;
  const T t22 = dw_link2_y - t19;
  const T t23 = prepared_2 * t21;
  const T t24 = q1_dot * t6;
  const T t25 = t24 * q2_dot;
  const T t26 = t25 + t11;
  const T t27 = t26 + t25;
  const T t28 = T(0.0070992) * t27;
  const T t29 = t23 + t28;
  const T t30 = prepared_15 * t27;
  const T t31 = t24 * t15;
  const T t32 = q1_dot * q1_dot;
  const T t33 = d2 * t32;
  const T t34 = c1 * q1_dot;
  const T t35 = t34 + t1;
  const T t36 = t24 * t24;
  const T t37 = t36 + t16;
  const T t38 = d3 * t37;
  const T w_link3_z = q2_dot + q3_dot;
  const T t40 = d3 * t11;
  const T t41 = prepared_1 * t11;
  const T t42 = d3 * t22;
  const T t43 = T(0.0016703999999999998) * t22;
  const T t44 = t36 + t3;
  const T t45 = w_link3_z * w_link3_z;
  const T t46 = T(0.0070992) * t21;
  const T t47 = a2 * t21;
  const T t48 = t47 + t38;
  const T t49 = t48 + t33;
  const T t50 = a2 * t44;
  const T t51 = t42 - t50;
  const T t52 = t36 - t3;
  const T t53 = T(0.0016703999999999998) * t52;
  const T t54 = t16 + t3;
  const T t55 = t16 - t36;
  const T t56 = T(0.10439999999999999) * t54;
  const T t57 = T(0.0070992) * t55;
  const T t58 = T(0.10439999999999999) * t33;
  const T t59 = prepared_4 * t33;
  const T t60 = prepared_4 * t44;
  const T t61 = prepared_21 * t31;
  const T t62 = c3 * q3_dot;
  const T t63 = t31 - q2_ddot;
  const T t64 = t31 + q2_ddot;
  const T t65 = prepared_1 * t64;
  const T t66 = t65 - t30;
  const T t67 = t66 - t46;
  const T t68 = t67 + t53;
  const T t69 = t68 - t58;
  const T t70 = T(0.0016703999999999998) * t63;
  const T t71 = t29 - t70;
  const T t72 = t18 + t71;
  const T t73 = t72 + t59;
  const T t74 = T(0.10439999999999999) * t63;
  const T t75 = t74 - t60;
  const T dw_link3_z = q2_ddot + q3_ddot;
  const T t77 = prepared_22 * q2_ddot;
  const T t78 = t61 + t77;
  const T t79 = t78 + t43;
  const T t80 = t79 - t41;
  const T t81 = t80 - t57;
  const T t82 = a2 * t64;
  const T t83 = t82 + t40;
  const T t84 = prepared_4 * t64;
  const T t85 = t84 - t56;
  const T t86 = prepared_19 * dw_link3_z;
  const T t87 = t49 * prepared_7;
  T t89_s_, t88_c_; sine_cosine(q3, &t89_s_, &t88_c_);
  const T t89 = t89_s_;
  const T t88 = t88_c_;
  const T t90 = t15 * t88;
  const T t91 = t15 * t89;
  const T t92 = q3 - goal3;
  const T t93 = k3 * t92;
  const T t94 = t62 + t93;
  const T t95 = t24 * t89;
  const T t96 = t90 + t95;
  const T t97 = t24 * t88;
  const T t98 = t96 * w_link3_z;
  const T t99 = t26 * t89;
  const T t100 = t26 * t88;
  const T t101 = dw_link2_y * t88;
  const T t102 = t99 + t101;
  const T t103 = dw_link2_y * t89;
  const T t104 = t103 - t100;
  const T t105 = t96 * q3_dot;
  const T dw_link3_y = t102 + t105;
  const T t107 = t98 + dw_link3_y;
  const T t108 = dw_link3_y - t98;
  const T t109 = T(0.004704000000000001) * t108;
  const T t110 = prepared_8 * t107;
  const T w_link3_y = t91 - t97;
  const T t112 = t97 - t91;
  const T t113 = w_link3_y * q3_dot;
  const T dw_link3_x = t113 + t104;
  const T t115 = w_link3_y * w_link3_z;
  const T t116 = t115 + dw_link3_x;
  const T t117 = t96 * w_link3_y;
  const T t118 = w_link3_y * w_link3_y;
  const T t119 = t117 + dw_link3_z;
  const T t120 = T(0.004704000000000001) * t119;
  const T t121 = t118 + t45;
  const T w_link4_z = t112 + q4_dot;
  const T t123 = dw_link3_z - t117;
  const T t124 = prepared_20 * t117;
  const T t125 = t86 - t124;
  const T t126 = t125 + t109;
  const T t127 = t96 * t96;
  const T t128 = t127 + t45;
  const T t129 = t118 - t45;
  const T t130 = t127 - t118;
  const T t131 = T(0.004704000000000001) * t129;
  const T t132 = prepared_13 * t116;
  const T t133 = prepared_7 * t121;
  const T t134 = a3 * t121;
  const T t135 = a3 * t107;
  const T t136 = a3 * t123;
  const T t137 = prepared_7 * t123;
  const T t138 = prepared_7 * t107;
  const T t139 = prepared_9 * t107;
  const T t140 = t139 + t132;
  const T t141 = t140 + t131;
  const T t142 = prepared_9 * t130;
  const T t143 = t126 + t142;
  const T t144 = prepared_9 * t116;
  const T t145 = t110 + t144;
  const T t146 = t145 + t120;
  const T t147 = t87 + t146;
  const T t148 = c4 * q4_dot;
  const T t149 = g * t6;
  const T a_link2_y = t13 - t149;
  const T t151 = t83 + a_link2_y;
  const T t152 = prepared_4 * a_link2_y;
  const T t153 = g * t5;
  const T t154 = t14 + t153;
  const T t155 = t51 - t154;
  const T t156 = T(0.10439999999999999) * t154;
  const T t157 = t152 + t156;
  const T t158 = t157 + t81;
  const T t159 = t151 * t89;
  const T t160 = t151 * t88;
  const T t161 = t155 * t88;
  const T a_link3_x = t159 + t161;
  const T t163 = t155 * t89;
  const T a_link3_y = t160 - t163;
  const T t165 = a_link3_y * prepared_7;
  const T t166 = d4 * t119;
  const T t167 = t166 - t134;
  const T t168 = a_link3_x + t167;
  const T t169 = d4 * t116;
  const T t170 = t135 + t169;
  const T t171 = t49 + t170;
  const T t172 = d4 * t128;
  const T t173 = t136 + t172;
  const T t174 = a_link3_y + t173;
  const T t175 = t49 * prepared_14;
  const T t176 = t141 - t175;
  const T t177 = prepared_14 * t119;
  const T t178 = t133 + t177;
  const T t179 = prepared_14 * t128;
  const T t180 = t137 - t179;
  const T t181 = prepared_14 * t116;
  const T t182 = t181 - t138;
  const T t183 = a_link3_x * prepared_14;
  const T t184 = t165 - t183;
  const T t185 = t184 + t143;
  T t186_s_, t187_c_; sine_cosine(q4, &t186_s_, &t187_c_);
  const T t186 = t186_s_;
  const T t187 = t187_c_;
  const T t188 = t168 * t186;
  const T t189 = t168 * t187;
  const T t190 = q4 - goal4;
  const T t191 = k4 * t190;
  const T t192 = t148 + t191;
  const T t193 = t171 * t187;
  const T t194 = t188 + t193;
  const T t195 = T(0.0028799999999999997) * t194;
  const T t196 = t171 * t186;
  const T a_link4_x = t189 - t196;
  const T t198 = t96 * t186;
  const T t199 = t96 * t187;
  const T t200 = w_link3_z * t187;
  const T w_link4_y = t198 + t200;
  const T t202 = w_link3_z * t186;
  const T w_link4_x = t202 - t199;
  const T t204 = w_link4_y * q4_dot;
  const T t205 = w_link4_x * q4_dot;
  const T t206 = dw_link3_x * t187;
  const T t207 = dw_link3_x * t186;
  const T t208 = dw_link3_z * t186;
  const T t209 = t206 + t208;
  const T dw_link4_x = t204 + t209;
  const T t211 = dw_link3_z * t187;
  const T t212 = t211 - t207;
  const T dw_link4_y = t212 - t205;
  const T dw_link5_z = dw_link4_y + q5_ddot;
  const T t215 = w_link4_y * w_link4_x;
  const T t216 = T(9.999999999999983e-05) * t215;
  const T t217 = w_link4_z * w_link4_y;
  const T t218 = t217 + dw_link4_x;
  const T t219 = T(0.0007499999999999996) * t218;
  const T w_link5_z = w_link4_y + q5_dot;
  const T t221 = w_link5_z * w_link5_z;
  const T t222 = T(0.0006221600000000001) * dw_link5_z;
  const T t223 = w_link4_z * w_link4_x;
  const T t224 = t223 - dw_link4_y;
  const T t225 = T(0.0006499999999999998) * t224;
  const T t226 = c5 * q5_dot;
  const T t227 = dw_link3_y - q4_ddot;
  const T dw_link4_z = q4_ddot - dw_link3_y;
  const T t229 = T(0.0013999999999999993) * dw_link4_z;
  const T t230 = t229 - t216;
  T t231_s_, t232_c_; sine_cosine(q5, &t231_s_, &t232_c_);
  const T t231 = t231_s_;
  const T t232 = t232_c_;
  const T t233 = t174 * t231;
  const T t234 = t227 * t231;
  const T t235 = t227 * t232;
  const T t236 = a_link4_x * t232;
  const T a_link5_x = t233 + t236;
  const T t238 = T(0.0028799999999999997) * a_link5_x;
  const T t239 = q5 - goal5;
  const T t240 = k5 * t239;
  const T t241 = t226 + t240;
  const T t242 = dw_link4_x * t232;
  const T t243 = t234 + t242;
  const T t244 = dw_link4_x * t231;
  const T t245 = t235 - t244;
  const T t246 = w_link4_z * t232;
  const T t247 = w_link4_z * t231;
  const T t248 = w_link4_x * t231;
  const T t249 = t246 + t248;
  const T t250 = w_link4_x * t232;
  const T w_link5_x = t250 - t247;
  const T t252 = t249 * q5_dot;
  const T dw_link5_x = t243 - t252;
  const T t254 = w_link5_x * q5_dot;
  const T t255 = T(0.0004221600000000001) * dw_link5_x;
  const T t256 = w_link5_z * t249;
  const T t257 = T(0.00042216000000000004) * t256;
  const T t258 = t255 - t257;
  const T t259 = t195 + t258;
  const T t260 = dw_link5_x - t256;
  const T t261 = T(0.0028799999999999997) * t260;
  const T dw_link5_y = t245 - t254;
  const T t263 = t254 - t245;
  const T t264 = T(0.00020000000000000004) * dw_link5_y;
  const T dw_link6_z = t263 + q6_ddot;
  const T t266 = T(3.9999999999999996e-05) * dw_link6_z;
  const T t267 = w_link5_z * w_link5_x;
  const T t268 = T(0.00019999999999999998) * t267;
  const T t269 = t264 - t268;
  const T t270 = t269 - t266;
  const T t271 = t270 * t232;
  const T t272 = t270 * t231;
  const T t273 = t249 * w_link5_x;
  const T w_link6_z = t249 + q6_dot;
  const T t275 = t273 + dw_link5_z;
  const T t276 = T(0.0028799999999999997) * t275;
  const T t277 = T(0.00022216000000000005) * t273;
  const T t278 = t277 + t222;
  const T t279 = t238 + t278;
  const T t280 = t276 * t232;
  const T t281 = t276 * t231;
  const T t282 = w_link5_x * w_link5_x;
  const T t283 = t221 + t282;
  const T t284 = T(0.0028799999999999997) * t283;
  const T t285 = t284 * t231;
  const T t286 = t280 - t285;
  const T t287 = t284 * t232;
  const T t288 = t281 + t287;
  const T t289 = t180 + t288;
  const T t290 = a3 * t288;
  const T t291 = t286 * t186;
  const T t292 = t286 * t187;
  const T t293 = t261 * t187;
  const T t294 = t291 - t293;
  const T t295 = a3 * t294;
  const T t296 = t261 * t186;
  const T t297 = t292 + t296;
  const T t298 = t297 - t178;
  const T t299 = t182 + t294;
  const T t300 = d4 * t294;
  const T t301 = d4 * t297;
  const T t302 = t290 + t301;
  const T t303 = a2 * t299;
  const T t304 = t298 * t88;
  const T t305 = t298 * t89;
  const T t306 = t289 * t89;
  const T t307 = t304 - t306;
  const T t308 = t289 * t88;
  const T t309 = t308 + t305;
  const T t310 = t307 + t75;
  const T t311 = d3 * t307;
  const T t312 = t311 - t303;
  const T t313 = t309 * d3;
  const T t314 = t310 * t6;
  const T t315 = t85 + t309;
  const T t316 = a2 * t309;
  const T t317 = t315 * t5;
  const T t318 = t314 - t317;
  const T t319 = d2 * t318;
  const T t320 = c6 * q6_dot;
  T t321_s_, t322_c_; sine_cosine(q6, &t321_s_, &t322_c_);
  const T t321 = t321_s_;
  const T t322 = t322_c_;
  const T t323 = w_link5_z * t321;
  const T t324 = w_link5_z * t322;
  const T t325 = q6 - goal6;
  const T t326 = k6 * t325;
  const T t327 = t320 + t326;
  const T t328 = t327 + t266;
  tau[5 * stride] = t328;
  const T t329 = w_link5_x * t322;
  const T w_link6_x = t323 + t329;
  const T t331 = w_link5_x * t321;
  const T w_link6_y = t324 - t331;
  const T t333 = w_link6_z * w_link6_x;
  const T t334 = w_link6_x * q6_dot;
  const T t335 = w_link6_y * q6_dot;
  const T t336 = w_link6_y * w_link6_z;
  const T t337 = dw_link5_z * t322;
  const T t338 = dw_link5_z * t321;
  const T t339 = dw_link5_x * t321;
  const T t340 = t337 - t339;
  const T dw_link6_y = t340 - t334;
  const T t342 = t333 - dw_link6_y;
  const T t343 = T(1.9999999999999998e-05) * t342;
  const T t344 = dw_link5_x * t322;
  const T t345 = t344 + t338;
  const T dw_link6_x = t335 + t345;
  const T t347 = dw_link6_x + t336;
  const T t348 = T(1.9999999999999998e-05) * t347;
  const T t349 = t343 * t321;
  const T t350 = t348 * t321;
  const T t351 = t348 * t322;
  const T t352 = t349 + t351;
  const T t353 = t259 + t352;
  const T t354 = t343 * t322;
  const T t355 = t350 - t354;
  const T t356 = t279 + t355;
  const T t357 = t356 + t241;
  tau[4 * stride] = t357;
  const T t358 = t356 - t225;
  const T t359 = t353 * t231;
  const T t360 = t359 + t271;
  const T t361 = t353 * t232;
  const T t362 = t361 - t272;
  const T t363 = t362 + t219;
  const T t364 = t360 - t230;
  const T t365 = t364 - t295;
  const T t366 = t147 + t365;
  const T t367 = t230 - t360;
  const T t368 = t192 + t367;
  tau[3 * stride] = t368;
  const T t369 = t366 * t88;
  const T t370 = t366 * t89;
  const T t371 = t363 * t187;
  const T t372 = t358 * t187;
  const T t373 = t358 * t186;
  const T t374 = t371 - t373;
  const T t375 = t374 - t300;
  const T t376 = t375 + t176;
  const T t377 = t363 * t186;
  const T t378 = t372 + t377;
  const T t379 = t378 + t302;
  const T t380 = t379 + t185;
  const T t381 = t380 + t94;
  tau[2 * stride] = t381;
  const T t382 = t380 + t316;
  const T t383 = t382 + t158;
  const T t384 = t383 + t9;
  tau[1 * stride] = t384;
  const T t385 = t376 * t89;
  const T t386 = t369 + t385;
  const T t387 = t386 + t312;
  const T t388 = t73 + t387;
  const T t389 = t388 * t6;
  const T t390 = t376 * t88;
  const T t391 = t390 - t370;
  const T t392 = t391 - t313;
  const T t393 = t69 + t392;
  const T t394 = t393 * t5;
  const T t395 = t389 + t394;
  const T t396 = t395 + t319;
  const T t397 = t2 - t396;
  const T t398 = t397 + t35;
  tau[0 * stride] = t398;
}

}  // namespace puma560

#if defined(__CUDACC__) && !defined(TORSEUR_NO_KERNELS)
extern "C" __global__ void TORSEUR_BOUNDS puma560_inverse_dynamics_f32(const float *TORSEUR_RESTRICT q, const float *TORSEUR_RESTRICT v, const float *TORSEUR_RESTRICT vdot, puma560::values_of<float, 38> prepared, float *TORSEUR_RESTRICT tau, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) puma560::inverse_dynamics<float, float>(q + lane, v + lane, vdot + lane, prepared.values, tau + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS puma560_inverse_dynamics_f64(const double *TORSEUR_RESTRICT q, const double *TORSEUR_RESTRICT v, const double *TORSEUR_RESTRICT vdot, puma560::values_of<double, 38> prepared, double *TORSEUR_RESTRICT tau, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) puma560::inverse_dynamics<double, double>(q + lane, v + lane, vdot + lane, prepared.values, tau + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS puma560_inverse_dynamics_mixed(const float *TORSEUR_RESTRICT q, const float *TORSEUR_RESTRICT v, const float *TORSEUR_RESTRICT vdot, puma560::values_of<double, 38> prepared, float *TORSEUR_RESTRICT tau, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) puma560::inverse_dynamics<float, double>(q + lane, v + lane, vdot + lane, prepared.values, tau + lane, n);
}
#endif

#undef TORSEUR_DEVICE
#undef TORSEUR_RESTRICT
#undef TORSEUR_TABLE
#undef TORSEUR_ZERO
#undef TORSEUR_UNROLL
#undef TORSEUR_ROLLED
#undef TORSEUR_SPILL
