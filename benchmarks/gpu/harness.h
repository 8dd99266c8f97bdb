// Finds the fastest cap on registers of every stage of a case, checks it against stored answers, times it for batches.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#ifndef FINE
#define FINE SCALAR
#endif

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));      \
      std::exit(2);                                                                             \
    }                                                                                           \
  } while (0)

struct Variant {
  int block, resident, parks;
  void (*launch)(void **arrays, long long n);
  const void *kernel;
};

struct Case {
  const char *robot, *function;
  std::vector<int> inputs, outputs;
  int scratch, operations, words;
  std::vector<std::vector<Variant>> stages;
};

// Makes room for a kernel's shared memory.
template <class K> cudaError_t with_shared(K kernel, int bytes) {
  return bytes ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) : cudaSuccess;
}

// Median microseconds of one launch.
template <class F> double microseconds(F launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  launch();
  launch();
  CHECK(cudaDeviceSynchronize());
  float ms = 0;
  CHECK(cudaEventRecord(begin));
  launch();
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  const int per = (int)std::min(200.0, std::max(1.0, 2.0 / std::max(1e-3f, ms)));
  std::vector<double> times;
  for (int group = 0; group < (ms > 50 ? 3 : 7); ++group) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < per; ++i) launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(1e3 * ms / per);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

inline std::vector<double> answers(const std::string &file) {
  FILE *stream = std::fopen(file.c_str(), "rb");
  if (!stream) {
    std::fprintf(stderr, "cannot open %s\n", file.c_str());
    std::exit(2);
  }
  std::fseek(stream, 0, SEEK_END);
  std::vector<double> data(std::ftell(stream) / sizeof(double));
  std::rewind(stream);
  if (std::fread(data.data(), sizeof(double), data.size(), stream) != data.size()) std::exit(2);
  std::fclose(stream);
  return data;
}

// Stored answers are K states: all inputs, then all outputs, each state by state.
template <class T> int measure(const Case &c, const std::string &file, const std::vector<long long> &batches) {
  const std::vector<double> data = answers(file);
  int in = 0, out = 0;
  for (int size : c.inputs) in += size;
  for (int size : c.outputs) out += size;
  const int known = (int)(data.size() / (in + out));
  const long long most = batches.back();
  std::vector<void *> arrays;
  for (int size : c.inputs) { arrays.push_back(nullptr); CHECK(cudaMalloc(&arrays.back(), sizeof(T) * size * most)); }
  for (int size : c.outputs) { arrays.push_back(nullptr); CHECK(cudaMalloc(&arrays.back(), sizeof(T) * size * most)); }
  arrays.push_back(nullptr);
  CHECK(cudaMalloc(&arrays.back(), sizeof(double) * std::max(1, c.scratch) * most));
  int offset = 0;
  for (size_t k = 0; k < c.inputs.size(); offset += c.inputs[k++]) {
    std::vector<T> host((size_t)c.inputs[k] * most);
    for (int j = 0; j < c.inputs[k]; ++j)
      for (long long i = 0; i < most; ++i) host[j * most + i] = (T)data[(i % known) * in + offset + j];
    CHECK(cudaMemcpy(arrays[k], host.data(), sizeof(T) * host.size(), cudaMemcpyHostToDevice));
  }
  // The fastest way to launch every stage, measured on a quarter of the largest batch after one run of all, so that
  // scratch holds numbers.
  for (const auto &stage : c.stages) stage[0].launch(arrays.data(), most);
  CHECK(cudaDeviceSynchronize());
  std::vector<Variant> chosen;
  std::string caps;
  int registers = 0;
  size_t local = 0;
  for (const auto &stage : c.stages) {
    double best = INFINITY;
    const Variant *fastest = &stage[0];
    for (const Variant &variant : stage) {
      const double us = microseconds([&] { variant.launch(arrays.data(), most / 4); });
      if (us < best) { best = us; fastest = &variant; }
    }
    chosen.push_back(*fastest);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, fastest->kernel));
    registers = std::max(registers, attributes.numRegs);
    local = std::max(local, attributes.localSizeBytes);
    char text[96];
    std::snprintf(text, sizeof text, "%s%dx%d%s:%dr:%zul:%.0fus", caps.empty() ? "" : " ", fastest->block, fastest->resident,
                  fastest->parks ? "p" : "", attributes.numRegs, attributes.localSizeBytes, best);
    caps += text;
  }
  const auto run = [&](long long n) { for (const Variant &variant : chosen) variant.launch(arrays.data(), n); };
  for (size_t k = 0; k < c.outputs.size(); ++k)
    CHECK(cudaMemset(arrays[c.inputs.size() + k], 0, sizeof(T) * c.outputs[k] * most));
  run(most);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  double error = 0, largest = 0;
  int place = 0;
  for (size_t k = 0; k < c.outputs.size(); place += c.outputs[k++]) {
    const long long checked = std::min<long long>(most, 8 * known);
    std::vector<T> host((size_t)c.outputs[k] * checked);
    CHECK(cudaMemcpy2D(host.data(), sizeof(T) * checked, arrays[c.inputs.size() + k], sizeof(T) * most,
                       sizeof(T) * checked, c.outputs[k], cudaMemcpyDeviceToHost));
    for (int i = 0; i < known; ++i)
      for (int j = 0; j < c.outputs[k]; ++j) largest = std::max(largest, std::fabs(data[known * in + i * out + place + j]));
    for (long long i = 0; i < checked; ++i)
      for (int j = 0; j < c.outputs[k]; ++j) {
        double off = std::fabs((double)host[j * checked + i] - data[known * in + (i % known) * out + place + j]);
        error = std::max(error, off == off ? off : INFINITY);
      }
  }
  std::printf("{\"robot\": \"%s\", \"function\": \"%s\", \"scalar\": \"%s\", \"caps\": \"%s\", \"registers\": %d, "
              "\"local\": %zu, \"operations\": %d, \"words\": %d, \"error\": %.2e, \"rates\": {",
              c.robot, c.function, sizeof(T) == 4 ? "float32" : "float64", caps.c_str(), registers, local, c.operations,
              c.words, error / largest);
  for (size_t b = 0; b < batches.size(); ++b) {
    const double us = microseconds([&] { run(batches[b]); });
    std::printf("%s\"%lld\": %.5f", b ? ", " : "", batches[b], batches[b] / us * 1e-3);
  }
  std::printf("}}\n");
  return 0;
}
