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

#include <stddef.h>
#include "double_pendulum_batch.h"


/* The same functions for several processors; the best that is there is chosen when they are called.
   With TORSEUR_NATIVE defined, only for the processor the compiler is told to write for. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FAST_MATH__) && !defined(TORSEUR_NATIVE)
#define TORSEUR_CHOICE
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,fma")
#endif
#define LANES 8
#define VARIANT(name) name##_avx512
#include "double_pendulum_lanes.h"
#undef LANES
#undef VARIANT
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define LANES 4
#define VARIANT(name) name##_avx2
#include "double_pendulum_lanes.h"
#undef LANES
#undef VARIANT
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#if defined(__GNUC__) && !defined(__FAST_MATH__)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
#else
#define LANES 1
#endif

#define VARIANT(name) name##_plain
#include "double_pendulum_lanes.h"
static void double_pendulum_inverse_dynamics_batch_constants(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *restrict q, const double *restrict v, const double *restrict vdot, const double *restrict prepared, double *restrict tau) {
  (void)begin, (void)end, (void)stride, (void)q, (void)v, (void)vdot, (void)prepared, (void)tau;
}

TORSEUR_EXPORT void double_pendulum_inverse_dynamics_batch_again(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *vdot, const double *prepared, double *tau) {
#if defined(TORSEUR_CHOICE)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    double_pendulum_inverse_dynamics_batch_run_avx512(begin, end, stride, q, v, vdot, prepared, tau);
    return;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    double_pendulum_inverse_dynamics_batch_run_avx2(begin, end, stride, q, v, vdot, prepared, tau);
    return;
  }
#endif
  double_pendulum_inverse_dynamics_batch_run_plain(begin, end, stride, q, v, vdot, prepared, tau);
}

TORSEUR_EXPORT void double_pendulum_inverse_dynamics_batch(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *vdot, const double *prepared, double *tau) {
  double_pendulum_inverse_dynamics_batch_constants(begin, end, stride, q, v, vdot, prepared, tau);
  double_pendulum_inverse_dynamics_batch_again(begin, end, stride, q, v, vdot, prepared, tau);
}

TORSEUR_EXPORT void double_pendulum_inverse_dynamics_batch_threads(int threads, ptrdiff_t count, const double *q, const double *v, const double *vdot, const double *prepared, double *tau) {
  const ptrdiff_t shares = threads < 1 ? 1 : threads;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
  for (ptrdiff_t k = 0; k < shares; k++)
    double_pendulum_inverse_dynamics_batch(count * k / shares, count * (k + 1) / shares, count, q, v, vdot, prepared, tau);
}

static void double_pendulum_forward_dynamics_batch_constants(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *restrict q, const double *restrict v, const double *restrict tau, const double *restrict prepared, double *restrict vdot) {
  (void)begin, (void)end, (void)stride, (void)q, (void)v, (void)tau, (void)prepared, (void)vdot;
}

TORSEUR_EXPORT void double_pendulum_forward_dynamics_batch_again(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *tau, const double *prepared, double *vdot) {
#if defined(TORSEUR_CHOICE)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    double_pendulum_forward_dynamics_batch_run_avx512(begin, end, stride, q, v, tau, prepared, vdot);
    return;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    double_pendulum_forward_dynamics_batch_run_avx2(begin, end, stride, q, v, tau, prepared, vdot);
    return;
  }
#endif
  double_pendulum_forward_dynamics_batch_run_plain(begin, end, stride, q, v, tau, prepared, vdot);
}

TORSEUR_EXPORT void double_pendulum_forward_dynamics_batch(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *v, const double *tau, const double *prepared, double *vdot) {
  double_pendulum_forward_dynamics_batch_constants(begin, end, stride, q, v, tau, prepared, vdot);
  double_pendulum_forward_dynamics_batch_again(begin, end, stride, q, v, tau, prepared, vdot);
}

TORSEUR_EXPORT void double_pendulum_forward_dynamics_batch_threads(int threads, ptrdiff_t count, const double *q, const double *v, const double *tau, const double *prepared, double *vdot) {
  const ptrdiff_t shares = threads < 1 ? 1 : threads;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
  for (ptrdiff_t k = 0; k < shares; k++)
    double_pendulum_forward_dynamics_batch(count * k / shares, count * (k + 1) / shares, count, q, v, tau, prepared, vdot);
}

static void double_pendulum_mass_matrix_by_q_batch_constants(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *restrict q, const double *restrict prepared, double *restrict dmass_matrix_dq) {
  (void)begin, (void)end, (void)stride, (void)q, (void)prepared, (void)dmass_matrix_dq;
  {
    static const int rows[5] = {0, 2, 4, 6, 7};
    static const double values[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (int j = 0; j < 5; j++) {
      double *const row = dmass_matrix_dq + rows[j] * stride;
      for (ptrdiff_t i = begin; i < end; i++) row[i] = values[j];
    }
  }
}

TORSEUR_EXPORT void double_pendulum_mass_matrix_by_q_batch_again(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *prepared, double *dmass_matrix_dq) {
#if defined(TORSEUR_CHOICE)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    double_pendulum_mass_matrix_by_q_batch_run_avx512(begin, end, stride, q, prepared, dmass_matrix_dq);
    return;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    double_pendulum_mass_matrix_by_q_batch_run_avx2(begin, end, stride, q, prepared, dmass_matrix_dq);
    return;
  }
#endif
  double_pendulum_mass_matrix_by_q_batch_run_plain(begin, end, stride, q, prepared, dmass_matrix_dq);
}

TORSEUR_EXPORT void double_pendulum_mass_matrix_by_q_batch(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const double *q, const double *prepared, double *dmass_matrix_dq) {
  double_pendulum_mass_matrix_by_q_batch_constants(begin, end, stride, q, prepared, dmass_matrix_dq);
  double_pendulum_mass_matrix_by_q_batch_again(begin, end, stride, q, prepared, dmass_matrix_dq);
}

TORSEUR_EXPORT void double_pendulum_mass_matrix_by_q_batch_threads(int threads, ptrdiff_t count, const double *q, const double *prepared, double *dmass_matrix_dq) {
  const ptrdiff_t shares = threads < 1 ? 1 : threads;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
  for (ptrdiff_t k = 0; k < shares; k++)
    double_pendulum_mass_matrix_by_q_batch(count * k / shares, count * (k + 1) / shares, count, q, prepared, dmass_matrix_dq);
}
