/* Loops over states around functions of one kind, so that no call from Python is timed. */
#include <stddef.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

typedef void (*scalar_function)(const double *, const double *, const double *, double *);
typedef void (*batch_function)(ptrdiff_t, ptrdiff_t, ptrdiff_t, const double *, const double *, const double *, double *);
typedef int (*casadi_function)(const double **, double **, long long *, double *, int);
typedef void (*mujoco_function)(const void *, void *);

double time_scalar(scalar_function f, int count, int nq, int nv, const double *q, const double *v, const double *a,
                   double *out) {
  const double begin = now();
  for (int i = 0; i < count; i++) f(q + i * nq, v + i * nv, a + i * nv, out);
  return now() - begin;
}

/* The same with the stack deeper by some bytes: where it lies can cost a fifth of the time. */
double time_deeper(int depth, scalar_function f, int count, int nq, int nv, const double *q, const double *v,
                   const double *a, double *out) {
  volatile char room[depth + 1];
  room[0] = room[depth] = 0;
  const double spent = time_scalar(f, count, nq, nv, q, v, a, out);
  return spent + room[0] + room[depth];
}

/* Blocks of 8 states, each block's rows behind one another. */
double time_batch(batch_function f, int count, int nq, int nv, const double *q, const double *v, const double *a,
                  double *out) {
  const double begin = now();
  for (int i = 0; i < count; i += 8) f(0, 8, 8, q + i * nq, v + i * nv, a + i * nv, out);
  return now() - begin;
}

double time_casadi(casadi_function f, int count, int nq, int nv, const double *q, const double *v, const double *a,
                   double *out, long long *iw, double *w) {
  const double begin = now();
  for (int i = 0; i < count; i++) {
    const double *arg[16] = {q + i * nq, v + i * nv, a + i * nv};
    double *res[16] = {out};
    f(arg, res, iw, w, 0);
  }
  return now() - begin;
}

double time_mujoco(mujoco_function f, const void *model, void *data, int count, int nq, int nv, const double *q,
                   const double *v, const double *a, double *qpos, double *qvel, double *third) {
  const double begin = now();
  for (int i = 0; i < count; i++) {
    memcpy(qpos, q + i * nq, nq * sizeof *q);
    memcpy(qvel, v + i * nv, nv * sizeof *v);
    memcpy(third, a + i * nv, nv * sizeof *a);
    f(model, data);
  }
  return now() - begin;
}
