/* What the processor does at most, eight numbers at a time: products (with a sum each), and stores beyond the first cache. */
#include <time.h>

typedef double lanes __attribute__((vector_size(64)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Seconds per product, from ten sums that do not wait for each other. */
double seconds_per_product(lanes *sums, const lanes *factor) {
  lanes x[10];
  const lanes a = *factor;
  for (int k = 0; k < 10; k++) x[k] = sums[k];
  const double begin = now();
  for (int i = 0; i < 10000; i++)
    for (int k = 0; k < 10; k++) x[k] = x[k] * a + a;
  const double spent = now() - begin;
  for (int k = 0; k < 10; k++) sums[k] = x[k];
  return spent / 1e5;
}

/* Seconds per store of eight numbers into n places. */
double seconds_per_store(lanes *places, int n, const lanes *value) {
  const lanes x = *value;
  const double begin = now();
  for (int k = 0; k < n; k++) *(volatile lanes *)&places[k] = x;
  return (now() - begin) / n;
}
