// What the device can do: bytes per second of a copy, operations per second of independent multiply-adds, with constants
// and with three different registers each, which the register file cannot feed at the same rate.
#include <cstdio>
#include "harness.h"

__global__ void copy(const float4 *__restrict__ from, float4 *__restrict__ to, long long n) {
  const long long lane = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (lane < n) to[lane] = from[lane];
}

template <class T> __global__ void multiply_add(T *out, T a, T b, int rounds) {
  T x[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) x[j] = (T)(threadIdx.x + j);
  for (int k = 0; k < rounds; ++k) {
#pragma unroll
    for (int j = 0; j < 16; ++j) x[j] = fma(x[j], a, b);
  }
  T sum = 0;
#pragma unroll
  for (int j = 0; j < 16; ++j) sum += x[j];
  out[blockIdx.x * (long long)blockDim.x + threadIdx.x] = sum;
}

template <class T> __global__ void multiply_add_registers(T *out, T, T, int rounds) {
  T x[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) x[j] = (T)1 / (threadIdx.x + j + 2);
  for (int k = 0; k < rounds; ++k) {
#pragma unroll
    for (int j = 0; j < 16; ++j) x[j] = fma(x[j], x[(j + 1) % 16], x[(j + 3) % 16]);
  }
  T sum = 0;
#pragma unroll
  for (int j = 0; j < 16; ++j) sum += x[j];
  out[blockIdx.x * (long long)blockDim.x + threadIdx.x] = sum;
}

template <class T> double operations_per_second(void (*kernel)(T *, T, T, int)) {
  const int blocks = 8 * 132 * 8, threads = 256, rounds = 2000;
  T *out;
  CHECK(cudaMalloc(&out, sizeof(T) * blocks * threads));
  const double us = microseconds([&] { kernel<<<blocks, threads>>>(out, (T)0.5, (T)1, rounds); });
  CHECK(cudaFree(out));
  return 2.0 * 16 * rounds * (double)blocks * threads / us * 1e6;
}

int main() {
  const long long n = 1LL << 26;
  float4 *from, *to;
  CHECK(cudaMalloc(&from, n * sizeof(float4)));
  CHECK(cudaMalloc(&to, n * sizeof(float4)));
  const double us = microseconds([&] { copy<<<(n + 255) / 256, 256>>>(from, to, n); });
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"device\": \"%s\", \"copy\": %.4g, \"float32\": %.4g, \"float64\": %.4g, "
              "\"registers\": %.4g}\n", device.name, 2.0 * n * sizeof(float4) / us * 1e6,
              operations_per_second<float>(multiply_add), operations_per_second<double>(multiply_add),
              operations_per_second<float>(multiply_add_registers));
  return 0;
}
