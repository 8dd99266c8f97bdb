/* A mechanism behind the Functional Mock-up Interface 2.0. The same for every model: model.h tells its sizes.

   Value references count states, derivatives, parameters, inputs and outputs, in this order. All numbers of an
   instance lie in one structure, so that instances do not know of each other and a state is a copy of it. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "fmi2.h"
#include "model.h" /* its numbers may be NAN, which math.h knows */

enum { TASK_DERIVATIVES, TASK_OUTPUTS, TASK_SETTLE, TASK_ADVANCE, TASK_TANGENT, TASK_SWITCH };
enum { FIRST_RATE = STATES, FIRST_PARAMETER = 2 * STATES, FIRST_INPUT = FIRST_PARAMETER + PARAMETERS,
       FIRST_OUTPUT = FIRST_INPUT + INPUTS, END_OF_VARIABLES = FIRST_OUTPUT + OUTPUTS };

typedef struct {
  double time, pace[2]; /* the relative tolerance, and the length of the steps to go on with */
  double y[STATES + 1];
  double p[PARAMETERS + SETTINGS + INPUTS + 1];
} Numbers;

typedef struct {
  Numbers now;
  fmi2CallbackFunctions functions;
  fmi2Boolean logging;
  char name[64];
} Instance;

static int64_t perform(Instance *m, int64_t task, double t_end, double *out) {
  double atol[STATES + 1];
  int64_t failed = 0;
  for (int i = 0; i < STATES; i++) atol[i] = m->now.pace[0] * nominal_states[i];
  return MODEL_TASK(task, m->now.time, t_end, m->now.pace, m->now.y, m->now.p, atol, out, NULL, &failed);
}

static fmi2Status fail(Instance *m, fmi2Status status, const char *text) {
  if (m->functions.logger != NULL && (m->logging || status >= fmi2Error)) {
    m->functions.logger(m->functions.componentEnvironment, m->name, status, "logStatusError", "%s", text);
  }
  return status;
}

static int all_finite(const double *values, int count) {
  for (int i = 0; i < count; i++) {
    if (!isfinite(values[i])) return 0;
  }
  return 1;
}

/* The state brought back on closed loops and unit quaternions; how far it was away, in parts of its size. */
static double settle(Instance *m, double *settled) {
  double distance = 0.0;
  perform(m, TASK_SETTLE, 0.0, settled);
  if (!all_finite(settled, STATES)) return INFINITY;
  for (int i = 0; i < STATES; i++) {
    const double moved = fabs(settled[i] - m->now.y[i]) / (nominal_states[i] + fabs(settled[i]));
    if (moved > distance) distance = moved;
  }
  return distance;
}

static void start(Instance *m) {
  m->now.time = 0.0;
  m->now.pace[0] = MODEL_TOLERANCE;
  m->now.pace[1] = 0.0;
  memcpy(m->now.y, start_of_states, STATES * sizeof(double));
  memcpy(m->now.p, start_of_p, (PARAMETERS + SETTINGS + INPUTS) * sizeof(double));
}

/* Where a variable that can be set lies; NULL for the others. */
static double *place(Instance *m, fmi2ValueReference reference) {
  if (reference < FIRST_RATE) return &m->now.y[reference];
  if (reference < FIRST_PARAMETER) return NULL;
  if (reference < FIRST_INPUT) return &m->now.p[reference - FIRST_PARAMETER];
  if (reference < FIRST_OUTPUT) return &m->now.p[reference - FIRST_INPUT + PARAMETERS + SETTINGS];
  return NULL;
}

/* ---- creation and life ---- */

FMI_EXPORT const char *FMI(fmi2GetTypesPlatform)(void) { return "default"; }

FMI_EXPORT const char *FMI(fmi2GetVersion)(void) { return "2.0"; }

FMI_EXPORT fmi2Component FMI(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)type, (void)resources, (void)visible;
  if (functions == NULL || functions->allocateMemory == NULL || functions->freeMemory == NULL) return NULL;
  if (guid == NULL || strcmp(guid, MODEL_GUID) != 0) {
    if (functions->logger != NULL) {
      functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError",
          "the description and the binary belong to different models");
    }
    return NULL;
  }
  Instance *m = functions->allocateMemory(1, sizeof(Instance));
  if (m == NULL) return NULL;
  m->functions = *functions;
  m->logging = logging;
  strncpy(m->name, name != NULL ? name : "", sizeof m->name - 1);
  m->name[sizeof m->name - 1] = '\0';
  start(m);
  return m;
}

FMI_EXPORT void FMI(fmi2FreeInstance)(fmi2Component c) {
  Instance *m = c;
  if (m != NULL) m->functions.freeMemory(m);
}

FMI_EXPORT fmi2Status FMI(fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String names[]) {
  (void)count, (void)names;
  ((Instance *)c)->logging = on;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SetupExperiment)(fmi2Component c, fmi2Boolean tolerance_given, fmi2Real tolerance,
    fmi2Real begin, fmi2Boolean end_given, fmi2Real end) {
  Instance *m = c;
  (void)end_given, (void)end;
  m->now.time = begin;
  if (tolerance_given && tolerance > 0.0) m->now.pace[0] = fmax(tolerance, 1e-13);
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2EnterInitializationMode)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2ExitInitializationMode)(fmi2Component c) {
  Instance *m = c;
  double settled[STATES + 1];
  if (MODEL_HAS_MANIFOLD) {
    if (isinf(settle(m, settled))) return fail(m, fmi2Error, "the start values cannot be brought on the constraints");
    memcpy(m->now.y, settled, STATES * sizeof(double));
  }
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2Terminate)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2Reset)(fmi2Component c) {
  start(c);
  return fmi2OK;
}

/* ---- values ---- */

FMI_EXPORT fmi2Status FMI(fmi2GetReal)(fmi2Component c, const fmi2ValueReference references[], size_t count,
    fmi2Real values[]) {
  Instance *m = c;
  double derivatives[STATES + 1], outputs[OUTPUTS + 1];
  int has_derivatives = 0, has_outputs = 0;
  for (size_t k = 0; k < count; k++) {
    const fmi2ValueReference reference = references[k];
    const double *stored = place(m, reference);
    if (stored != NULL) {
      values[k] = *stored;
    } else if (reference < FIRST_PARAMETER) {
      if (!has_derivatives) perform(m, TASK_DERIVATIVES, 0.0, derivatives);
      has_derivatives = 1;
      values[k] = derivatives[reference - FIRST_RATE];
    } else if (reference < END_OF_VARIABLES) {
      if (!has_outputs) perform(m, TASK_OUTPUTS, 0.0, outputs);
      has_outputs = 1;
      values[k] = outputs[reference - FIRST_OUTPUT];
    } else {
      return fail(m, fmi2Error, "there is no variable with this value reference");
    }
  }
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SetReal)(fmi2Component c, const fmi2ValueReference references[], size_t count,
    const fmi2Real values[]) {
  for (size_t k = 0; k < count; k++) {
    double *stored = place(c, references[k]);
    if (stored == NULL) return fail(c, fmi2Error, "this variable is computed and cannot be set");
    *stored = values[k];
  }
  return fmi2OK;
}

#define NO_SUCH_VARIABLES(get, set, type) \
  FMI_EXPORT fmi2Status FMI(get)(fmi2Component c, const fmi2ValueReference r[], size_t count, type values[]) { \
    (void)r, (void)values; \
    return count == 0 ? fmi2OK : fail(c, fmi2Error, "all variables are real numbers"); \
  } \
  FMI_EXPORT fmi2Status FMI(set)(fmi2Component c, const fmi2ValueReference r[], size_t count, const type values[]) { \
    (void)r, (void)values; \
    return count == 0 ? fmi2OK : fail(c, fmi2Error, "all variables are real numbers"); \
  }
NO_SUCH_VARIABLES(fmi2GetInteger, fmi2SetInteger, fmi2Integer)
NO_SUCH_VARIABLES(fmi2GetBoolean, fmi2SetBoolean, fmi2Boolean)
NO_SUCH_VARIABLES(fmi2GetString, fmi2SetString, fmi2String)

/* ---- copies of the state ---- */

FMI_EXPORT fmi2Status FMI(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state) {
  Instance *m = c;
  if (*state == NULL) *state = m->functions.allocateMemory(1, sizeof(Numbers));
  if (*state == NULL) return fail(m, fmi2Error, "no memory");
  memcpy(*state, &m->now, sizeof(Numbers));
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state) {
  memcpy(&((Instance *)c)->now, state, sizeof(Numbers));
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state) {
  if (state != NULL && *state != NULL) ((Instance *)c)->functions.freeMemory(*state);
  if (state != NULL) *state = NULL;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size) {
  (void)c, (void)state;
  *size = sizeof(Numbers);
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  if (size < sizeof(Numbers)) return fail(c, fmi2Error, "the array for the state is too short");
  memcpy(bytes, state, sizeof(Numbers));
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size,
    fmi2FMUstate *state) {
  Instance *m = c;
  if (size != sizeof(Numbers)) return fail(m, fmi2Error, "these bytes are no state of this model");
  if (*state == NULL) *state = m->functions.allocateMemory(1, sizeof(Numbers));
  if (*state == NULL) return fail(m, fmi2Error, "no memory");
  memcpy(*state, bytes, sizeof(Numbers));
  return fmi2OK;
}

/* How the unknowns change when the known variables change by so much, the others staying as they are. */
FMI_EXPORT fmi2Status FMI(fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknown[],
    size_t unknowns, const fmi2ValueReference known[], size_t knowns, const fmi2Real change[], fmi2Real result[]) {
  Instance *m = c;
  double direction[STATES + PARAMETERS + SETTINGS + INPUTS + 1] = {0}, changes[STATES + OUTPUTS + 1];
  int64_t failed = 0;
  if (!MODEL_HAS_TANGENT) return fail(m, fmi2Error, "directional derivatives are not provided");
  for (size_t k = 0; k < knowns; k++) {
    const double *stored = place(m, known[k]);
    if (stored == NULL) return fail(m, fmi2Error, "a known variable is computed");
    direction[known[k] < FIRST_RATE ? (ptrdiff_t)known[k] : STATES + (stored - m->now.p)] = change[k];
  }
  MODEL_TASK(TASK_TANGENT, m->now.time, 0.0, m->now.pace, m->now.y, m->now.p, direction, changes, NULL, &failed);
  for (size_t k = 0; k < unknowns; k++) {
    const fmi2ValueReference reference = unknown[k];
    if (reference < FIRST_RATE) {
      result[k] = direction[reference];
    } else if (reference < FIRST_PARAMETER) {
      result[k] = changes[reference - FIRST_RATE];
    } else {
      if (place(m, reference) != NULL || reference >= END_OF_VARIABLES) return fail(m, fmi2Error, "not computed");
      result[k] = changes[STATES + reference - FIRST_OUTPUT];
    }
  }
  return fmi2OK;
}

/* ---- model exchange ---- */

FMI_EXPORT fmi2Status FMI(fmi2EnterEventMode)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2EnterContinuousTimeMode)(fmi2Component c) {
  (void)c;
  return fmi2OK;
}

/* The only events: a state that has drifted off its manifold is brought back, and the times at which the equations
   switch, as far as they are known. */
FMI_EXPORT fmi2Status FMI(fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info) {
  Instance *m = c;
  double settled[STATES + 1];
  memset(info, 0, sizeof *info);
  perform(m, TASK_SWITCH, 0.0, &info->nextEventTime);
  info->nextEventTimeDefined = info->nextEventTime < 1e299;
  if (MODEL_HAS_MANIFOLD) {
    const double distance = settle(m, settled);
    if (isinf(distance)) return fail(m, fmi2Error, "the state cannot be brought back on the constraints");
    info->valuesOfContinuousStatesChanged = distance > 0.0;
    memcpy(m->now.y, settled, STATES * sizeof(double));
  }
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2CompletedIntegratorStep)(fmi2Component c, fmi2Boolean keep, fmi2Boolean *event,
    fmi2Boolean *terminate) {
  double settled[STATES + 1];
  (void)keep;
  *event = MODEL_HAS_MANIFOLD && settle(c, settled) > MODEL_DRIFT;
  *terminate = 0;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SetTime)(fmi2Component c, fmi2Real time) {
  ((Instance *)c)->now.time = time;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2SetContinuousStates)(fmi2Component c, const fmi2Real y[], size_t count) {
  memcpy(((Instance *)c)->now.y, y, count * sizeof(double));
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2GetContinuousStates)(fmi2Component c, fmi2Real y[], size_t count) {
  memcpy(y, ((Instance *)c)->now.y, count * sizeof(double));
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real y[], size_t count) {
  (void)c;
  memcpy(y, nominal_states, count * sizeof(double));
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2GetDerivatives)(fmi2Component c, fmi2Real derivatives[], size_t count) {
  perform(c, TASK_DERIVATIVES, 0.0, derivatives);
  return all_finite(derivatives, (int)count) ? fmi2OK : fail(c, fmi2Discard, "a derivative is not finite");
}

FMI_EXPORT fmi2Status FMI(fmi2GetEventIndicators)(fmi2Component c, fmi2Real indicators[], size_t count) {
  (void)c, (void)indicators, (void)count;
  return fmi2OK;
}

/* ---- co-simulation ---- */

FMI_EXPORT fmi2Status FMI(fmi2DoStep)(fmi2Component c, fmi2Real time, fmi2Real length, fmi2Boolean keep) {
  Instance *m = c;
  double unused[STATES + 1];
  (void)keep;
  m->now.time = time;
  const Numbers before = m->now;
  if (perform(m, TASK_ADVANCE, time + length, unused) != 0) {
    m->now = before;
    return fail(m, fmi2Discard, "the motion cannot be computed to the end of the step");
  }
  m->now.time = time + length;
  return fmi2OK;
}

FMI_EXPORT fmi2Status FMI(fmi2CancelStep)(fmi2Component c) { return fail(c, fmi2Error, "no step is pending"); }

FMI_EXPORT fmi2Status FMI(fmi2SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference references[],
    size_t count, const fmi2Integer order[], const fmi2Real values[]) {
  (void)references, (void)order, (void)values;
  return count == 0 ? fmi2OK : fail(c, fmi2Error, "inputs are constant during a step");
}

FMI_EXPORT fmi2Status FMI(fmi2GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference references[],
    size_t count, const fmi2Integer order[], fmi2Real values[]) {
  (void)references, (void)order, (void)values;
  return count == 0 ? fmi2OK : fail(c, fmi2Error, "derivatives of outputs are not provided");
}

FMI_EXPORT fmi2Status FMI(fmi2GetRealStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = ((Instance *)c)->now.time;
  return fmi2OK;
}

#define NO_STATUS(name, type) \
  FMI_EXPORT fmi2Status FMI(name)(fmi2Component c, const fmi2StatusKind kind, type *value) { \
    (void)c, (void)kind, (void)value; \
    return fmi2Discard; \
  }
NO_STATUS(fmi2GetStatus, fmi2Status)
NO_STATUS(fmi2GetIntegerStatus, fmi2Integer)
NO_STATUS(fmi2GetBooleanStatus, fmi2Boolean)
NO_STATUS(fmi2GetStringStatus, fmi2String)
