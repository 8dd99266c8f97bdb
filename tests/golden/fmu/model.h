/* double_pendulum: sizes and start values. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#define MODEL_GUID "{48fecdb7-991d-e902-64e5-f51b2cfa685c}"
#define MODEL_TOLERANCE 1e-10
#define MODEL_DRIFT 0.0001
#define MODEL_HAS_MANIFOLD 0
#define MODEL_HAS_TANGENT 1

enum {
  STATES = 4,
  PARAMETERS = 5,
  SETTINGS = 0,
  INPUTS = 0,
  OUTPUTS = 0
};

static const double start_of_states[] = {0.7853981633974483, 0.7853981633974483, 0.0, 0.0};
static const double nominal_states[] = {0.7853981633974483, 0.7853981633974483, 1.0, 1.0};
static const double start_of_p[] = {9.81, 4.0, 2.0, 5.0, 2.0};

/* What a task is called with: see the enumeration in fmi2.c. */
int64_t double_pendulum_task(int64_t task, double t, double t_end, double *pace, double *y, double *p,
    double *atol, double *out, void **callbacks, int64_t *failed);
#define MODEL_TASK double_pendulum_task

#endif
