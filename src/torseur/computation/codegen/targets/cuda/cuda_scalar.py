"""CUDA C++: its words, and the head of a source with what makes it valid as plain C++ and the sine with the cosine."""

from dataclasses import replace

from torseur.computation.codegen.targets.cpp.cpp_module import CPP

RESERVED = CPP.reserved | frozenset((
    "atomicAdd", "blockDim", "blockIdx", "dim3", "float2", "float4", "double2", "gridDim", "half", "lane", "lanes",
    "n", "rsqrt", "sincos", "spilled", "spilled_of_block", "sincosf", "sine_cosine", "stride",
    "stride_of", "threadIdx", "values_of", "warpSize",
))  # fmt: skip

CUDA = replace(CPP, name="CUDA C++", reserved=RESERVED)


# Sine and cosine: reduction by multiples of pi/2 that are taken off in parts (Cody and Waite 1980), by fused
# multiply-adds, whose products are not rounded; then a polynomial for each, and quadrants by bits of the count:
#     count mod 4      0    1    2    3
#     sine             s    c   -s   -c
#     cosine           c   -s   -c    s
# The double polynomials are those of fdlibm (Sun Microsystems 1993), of degree 13 and 14. The library's own functions
# have a slow path for huge arguments, and its branches keep the threads of a warp waiting for each other.
HEAD = """\
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
#define TORSEUR_SPILL(F, slots)                  \\
  extern __shared__ double spilled_of_block[];   \\
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
"""

FOOT = """
#undef TORSEUR_DEVICE
#undef TORSEUR_RESTRICT
#undef TORSEUR_TABLE
#undef TORSEUR_ZERO
#undef TORSEUR_UNROLL
#undef TORSEUR_ROLLED
#undef TORSEUR_SPILL
"""
