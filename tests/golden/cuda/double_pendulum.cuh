// double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q
// orthogonal double pendulum
// Written in CUDA C++ by torseur. SI units.
//
// q[0]: q1 in rad, swing of the arm
// q[1]: q2 in rad, swing of the blade
//
// v[0]: q1' in rad/s, rate of q1
// v[1]: q2' in rad/s, rate of q2
//
// vdot[0]: q1'' in rad/s^2, rate of q1'
// vdot[1]: q2'' in rad/s^2, rate of q2'
//
// p[0]: g = 9.81 m/s^2, gravity
// p[1]: m1 = 4 kg, mass of the arm, at the elbow
// p[2]: m2 = 2 kg, mass of the blade
// p[3]: r2 = 5 m, distance from shoulder to elbow
// p[4]: l2 = 2 m, distance from elbow to the blade's mass centre
//
// tau[0]: tau.q1' in N*m, generalised force along q1'
// tau[1]: tau.q2' in N*m, generalised force along q2'
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

namespace double_pendulum {

template <class T, int N> struct values_of { T values[N]; };

constexpr double parameters[5] = {9.81, 4.0, 2.0, 5.0, 2.0};

// inverse_dynamics: 54 operations (36 multiplication, 14 addition, 4 trigonometric)
// of these, 13 depend on parameters only: inverse_dynamics_prepare computes 6 values
// inputs: q (2), v (2), vdot (2), prepared (6)
// outputs: tau (2)
template <class T, class F = T>
TORSEUR_DEVICE void inverse_dynamics_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared, long long stride) {
  const T m1 = p[1 * stride];
  const T r2 = p[3 * stride];
  const T m2 = p[2 * stride];
  const T l2 = p[4 * stride];
  const T t0 = m1 * r2;
  const T t1 = m2 * r2;
  const T t2 = t0 + t1;
  prepared[1 * stride] = t2;
  const T t3 = r2 * r2;
  const T t4 = m1 * t3;
  const T t5 = T(0.5) * m2;
  const T t6 = t5 * r2;
  const T t7 = T(2.0) * r2;
  const T t8 = t6 * t7;
  const T t9 = t4 + t8;
  prepared[2 * stride] = t9;
  const T t10 = l2 * m2;
  prepared[3 * stride] = t10;
  const T t11 = l2 * l2;
  const T t12 = t11 * m2;
  prepared[5 * stride] = t12;
  const T g = p[0 * stride];
  prepared[0 * stride] = g;
  prepared[4 * stride] = r2;
}

template <class T, class F = T>
TORSEUR_DEVICE void inverse_dynamics(const T *TORSEUR_RESTRICT q, const T *TORSEUR_RESTRICT v, const T *TORSEUR_RESTRICT vdot, const F *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT tau, long long stride) {
  const T q1 = q[0 * stride];
  const F g_f_ = prepared[0];
  const T g = T(g_f_);
  const F prepared_1_f_ = prepared[1];
  const T prepared_1 = T(prepared_1_f_);
  const F prepared_2_f_ = prepared[2];
  const T prepared_2 = T(prepared_2_f_);
  const T q1_ddot = vdot[0 * stride];
  const T q2 = q[1 * stride];
  const F r2_f_ = prepared[4];
  const T r2 = T(r2_f_);
  const F prepared_3_f_ = prepared[3];
  const T prepared_3 = T(prepared_3_f_);
  const T q1_dot = v[0 * stride];
  const T q2_ddot = vdot[1 * stride];
  const T q2_dot = v[1 * stride];
  const F prepared_5_f_ = prepared[5];
  const T prepared_5 = T(prepared_5_f_);
  T t0_s_, t1_c_; sine_cosine(q1, &t0_s_, &t1_c_);
  const T t0 = t0_s_;
  const T t1 = t1_c_;
  const T a_arm_x = g * t0;
  const T a_arm_y = g * t1;
  const T t4 = a_arm_x * prepared_1;
  const T t5 = prepared_2 * q1_ddot;
  const T t6 = t4 + t5;
  T t8_s_, t7_c_; sine_cosine(q2, &t8_s_, &t7_c_);
  const T t8 = t8_s_;
  const T t7 = t7_c_;
  const T t9 = q1_ddot * t7;
  const T t10 = q1_ddot * r2;
  const T t11 = a_arm_x + t10;
  const T t12 = t11 * t8;
  const T t13 = t12 * prepared_3;
  const T w_blade_y = q1_dot * t7;
  const T t15 = w_blade_y * w_blade_y;
  const T w_blade_x = q1_dot * t8;
  const T t17 = w_blade_y * w_blade_x;
  const T t18 = t17 + q2_ddot;
  const T t19 = q1_dot * q1_dot;
  const T t20 = t19 * r2;
  const T t21 = a_arm_y + t20;
  const T t22 = t21 * prepared_3;
  const T t23 = prepared_3 * t18;
  const T t24 = t23 * t8;
  const T t25 = w_blade_x * q2_dot;
  const T t26 = q2_dot * q2_dot;
  const T t27 = t15 + t26;
  const T t28 = prepared_3 * t27;
  const T t29 = t28 * t7;
  const T t30 = t29 + t24;
  const T t31 = t30 * r2;
  const T dw_blade_y = t9 - t25;
  const T t33 = t25 - dw_blade_y;
  const T t34 = prepared_5 * t33;
  const T t35 = t22 + t34;
  const T t36 = t35 * t7;
  const T t37 = t31 - t36;
  const T t38 = t6 + t37;
  tau[0 * stride] = t38;
  const T t39 = prepared_5 * t18;
  const T t40 = t13 + t39;
  tau[1 * stride] = t40;
}

// forward_dynamics: 66 operations (44 multiplication, 16 addition, 4 trigonometric, 2 division)
// of these, 14 depend on parameters only: forward_dynamics_prepare computes 7 values
// inputs: q (2), v (2), tau (2), prepared (7)
// outputs: vdot (2)
template <class T, class F = T>
TORSEUR_DEVICE void forward_dynamics_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared, long long stride) {
  const T l2 = p[4 * stride];
  const T m2 = p[2 * stride];
  const T r2 = p[3 * stride];
  const T m1 = p[1 * stride];
  const F t0_f_ = F(l2) * F(l2);
  const T t1 = l2 * m2;
  prepared[2 * stride] = t1;
  const F t2_f_ = t0_f_ * F(m2);
  const T t2 = T(t2_f_);
  prepared[0 * stride] = t2;
  const T t3 = T(1.0) / t2;
  prepared[4 * stride] = t3;
  const T t4 = T(0.5) * m2;
  const T t5 = t4 * r2;
  const T t6 = m2 * r2;
  const T t7 = r2 * r2;
  const T t8 = m1 * t7;
  const T t9 = m1 * r2;
  const T t10 = t9 + t6;
  prepared[6 * stride] = t10;
  const T t11 = T(2.0) * r2;
  const T t12 = t5 * t11;
  const T t13 = t8 + t12;
  prepared[1 * stride] = t13;
  prepared[3 * stride] = r2;
  const T g = p[0 * stride];
  prepared[5 * stride] = g;
}

template <class T, class F = T>
TORSEUR_DEVICE void forward_dynamics(const T *TORSEUR_RESTRICT q, const T *TORSEUR_RESTRICT v, const T *TORSEUR_RESTRICT tau, const F *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT vdot, long long stride) {
  const T q1 = q[0 * stride];
  const F g_f_ = prepared[5];
  const T g = T(g_f_);
  const F prepared_6_f_ = prepared[6];
  const T prepared_6 = T(prepared_6_f_);
  const T q2 = q[1 * stride];
  const F prepared_2_f_ = prepared[2];
  const T prepared_2 = T(prepared_2_f_);
  const F r2_f_ = prepared[3];
  const T r2 = T(r2_f_);
  const T q1_dot = v[0 * stride];
  const F prepared_0_f_ = prepared[0];
  const T prepared_0 = T(prepared_0_f_);
  const T tau_q2_dot = tau[1 * stride];
  const F prepared_1_f_ = prepared[1];
  const T q2_dot = v[1 * stride];
  const T tau_q1_dot = tau[0 * stride];
  const F prepared_4_f_ = prepared[4];
  const T prepared_4 = T(prepared_4_f_);
  T t0_s_, t1_c_; sine_cosine(q1, &t0_s_, &t1_c_);
  const T t0 = t0_s_;
  const T t1 = t1_c_;
  const T a_arm_x = g * t0;
  const T a_arm_y = g * t1;
  const T t4 = a_arm_x * prepared_6;
  F t5_s_, t6_c_; sine_cosine(F(q2), &t5_s_, &t6_c_);
  const F t5_f_ = t5_s_;
  const T t5 = T(t5_f_);
  const T t6 = t6_c_;
  const T t7 = a_arm_x * t5;
  const T t8 = t7 * prepared_2;
  const F t9_f_ = prepared_2_f_ * t5_f_;
  const F t10_f_ = t9_f_ * r2_f_;
  const T w_blade_y = q1_dot * t6;
  const T w_blade_x = q1_dot * t5;
  const T t13 = q1_dot * q1_dot;
  const T t14 = t13 * r2;
  const T t15 = a_arm_y + t14;
  const T t16 = t15 * prepared_2;
  const T t17 = w_blade_y * w_blade_x;
  const T t18 = w_blade_y * w_blade_y;
  const T t19 = prepared_2 * t17;
  const T t20 = t19 * t5;
  const T t21 = prepared_0 * t17;
  const T t22 = t8 + t21;
  const T t23 = tau_q2_dot - t22;
  const F t24_f_ = prepared_0_f_ * t5_f_;
  const F t25_f_ = t24_f_ * t5_f_;
  const F t26_f_ = prepared_0_f_ - t25_f_;
  const F t27_f_ = t26_f_ + prepared_1_f_;
  const T t28 = w_blade_x * q2_dot;
  const T t29 = q2_dot * q2_dot;
  const T t30 = t18 + t29;
  const T t31 = prepared_2 * t30;
  const T t32 = t31 * t6;
  const T t33 = t32 + t20;
  const T t34 = t33 * r2;
  const T t35 = T(2.0) * t28;
  const T t36 = prepared_0 * t35;
  const T t37 = t16 + t36;
  const T t38 = t37 * t6;
  const T t39 = t34 - t38;
  const T t40 = t4 + t39;
  const T t41 = tau_q1_dot - t40;
  const T t42 = prepared_4 * t23;
  const F t43_f_ = prepared_4_f_ * t10_f_;
  const T t43 = T(t43_f_);
  const F t44_f_ = t10_f_ * t43_f_;
  const F t45_f_ = t27_f_ - t44_f_;
  const T t45 = T(t45_f_);
  const T t46 = T(1.0) / t45;
  const T t47 = t43 * t23;
  const T t48 = t41 - t47;
  const T t49 = t46 * t48;
  vdot[0 * stride] = t49;
  const T t50 = t49 * t43;
  const T t51 = t42 - t50;
  vdot[1 * stride] = t51;
}

// mass_matrix_by_q: 13 operations (9 multiplication, 2 trigonometric, 1 addition, 1 negation)
// of these, 3 depend on parameters only: mass_matrix_by_q_prepare computes 3 values
// inputs: q (2), prepared (3)
// outputs: dmass_matrix_dq (2 x 2 x 2)
template <class T, class F = T>
TORSEUR_DEVICE void mass_matrix_by_q_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared, long long stride) {
  const T l2 = p[4 * stride];
  const T m2 = p[2 * stride];
  const T t0 = l2 * l2;
  const T t1 = t0 * m2;
  prepared[0 * stride] = t1;
  const T t2 = l2 * m2;
  prepared[1 * stride] = t2;
  const T r2 = p[3 * stride];
  prepared[2 * stride] = r2;
}

template <class T, class F = T>
TORSEUR_DEVICE void mass_matrix_by_q(const T *TORSEUR_RESTRICT q, const F *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT dmass_matrix_dq, long long stride) {
  const T q2 = q[1 * stride];
  const F prepared_0_f_ = prepared[0];
  const T prepared_0 = T(prepared_0_f_);
  const F prepared_1_f_ = prepared[1];
  const T prepared_1 = T(prepared_1_f_);
  const F r2_f_ = prepared[2];
  const T r2 = T(r2_f_);
  T t0_s_, t1_c_; sine_cosine(q2, &t0_s_, &t1_c_);
  const T t0 = t0_s_;
  const T t1 = t1_c_;
  const T t2 = prepared_0 * t0;
  const T t3 = t2 * t1;
  const T t4 = prepared_0 * t1;
  const T t5 = t4 * t0;
  const T t6 = t3 + t5;
  const T t7 = -t6;
  dmass_matrix_dq[1 * stride] = t7;
  const T t8 = prepared_1 * t1;
  const T t9 = t8 * r2;
  dmass_matrix_dq[3 * stride] = t9;
  dmass_matrix_dq[5 * stride] = t9;
  TORSEUR_ZERO(dmass_matrix_dq[0 * stride]);
  TORSEUR_ZERO(dmass_matrix_dq[2 * stride]);
  TORSEUR_ZERO(dmass_matrix_dq[4 * stride]);
  TORSEUR_ZERO(dmass_matrix_dq[6 * stride]);
  TORSEUR_ZERO(dmass_matrix_dq[7 * stride]);
}

}  // namespace double_pendulum

#if defined(__CUDACC__) && !defined(TORSEUR_NO_KERNELS)
extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_inverse_dynamics_f32(const float *TORSEUR_RESTRICT q, const float *TORSEUR_RESTRICT v, const float *TORSEUR_RESTRICT vdot, double_pendulum::values_of<float, 6> prepared, float *TORSEUR_RESTRICT tau, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::inverse_dynamics<float, float>(q + lane, v + lane, vdot + lane, prepared.values, tau + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_inverse_dynamics_f64(const double *TORSEUR_RESTRICT q, const double *TORSEUR_RESTRICT v, const double *TORSEUR_RESTRICT vdot, double_pendulum::values_of<double, 6> prepared, double *TORSEUR_RESTRICT tau, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::inverse_dynamics<double, double>(q + lane, v + lane, vdot + lane, prepared.values, tau + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_inverse_dynamics_mixed(const float *TORSEUR_RESTRICT q, const float *TORSEUR_RESTRICT v, const float *TORSEUR_RESTRICT vdot, double_pendulum::values_of<double, 6> prepared, float *TORSEUR_RESTRICT tau, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::inverse_dynamics<float, double>(q + lane, v + lane, vdot + lane, prepared.values, tau + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_forward_dynamics_f32(const float *TORSEUR_RESTRICT q, const float *TORSEUR_RESTRICT v, const float *TORSEUR_RESTRICT tau, double_pendulum::values_of<float, 7> prepared, float *TORSEUR_RESTRICT vdot, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::forward_dynamics<float, float>(q + lane, v + lane, tau + lane, prepared.values, vdot + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_forward_dynamics_f64(const double *TORSEUR_RESTRICT q, const double *TORSEUR_RESTRICT v, const double *TORSEUR_RESTRICT tau, double_pendulum::values_of<double, 7> prepared, double *TORSEUR_RESTRICT vdot, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::forward_dynamics<double, double>(q + lane, v + lane, tau + lane, prepared.values, vdot + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_forward_dynamics_mixed(const float *TORSEUR_RESTRICT q, const float *TORSEUR_RESTRICT v, const float *TORSEUR_RESTRICT tau, double_pendulum::values_of<double, 7> prepared, float *TORSEUR_RESTRICT vdot, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::forward_dynamics<float, double>(q + lane, v + lane, tau + lane, prepared.values, vdot + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_mass_matrix_by_q_f32(const float *TORSEUR_RESTRICT q, double_pendulum::values_of<float, 3> prepared, float *TORSEUR_RESTRICT dmass_matrix_dq, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::mass_matrix_by_q<float, float>(q + lane, prepared.values, dmass_matrix_dq + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_mass_matrix_by_q_f64(const double *TORSEUR_RESTRICT q, double_pendulum::values_of<double, 3> prepared, double *TORSEUR_RESTRICT dmass_matrix_dq, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::mass_matrix_by_q<double, double>(q + lane, prepared.values, dmass_matrix_dq + lane, n);
}

extern "C" __global__ void TORSEUR_BOUNDS double_pendulum_mass_matrix_by_q_mixed(const float *TORSEUR_RESTRICT q, double_pendulum::values_of<double, 3> prepared, float *TORSEUR_RESTRICT dmass_matrix_dq, unsigned n) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane < n) double_pendulum::mass_matrix_by_q<float, double>(q + lane, prepared.values, dmass_matrix_dq + lane, n);
}
#endif

#undef TORSEUR_DEVICE
#undef TORSEUR_RESTRICT
#undef TORSEUR_TABLE
#undef TORSEUR_ZERO
#undef TORSEUR_UNROLL
#undef TORSEUR_ROLLED
#undef TORSEUR_SPILL
