/* Types of the Functional Mock-up Interface 2.0 for co-simulation and model exchange. */
#ifndef TORSEUR_FMI2_H
#define TORSEUR_FMI2_H

#include <stddef.h>

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Byte;
typedef const char *fmi2String;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
  void (*logger)(fmi2ComponentEnvironment, fmi2String instance, fmi2Status, fmi2String category, fmi2String text, ...);
  void *(*allocateMemory)(size_t count, size_t size);
  void (*freeMemory)(void *);
  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
  fmi2Boolean newDiscreteStatesNeeded;
  fmi2Boolean terminateSimulation;
  fmi2Boolean nominalsOfContinuousStatesChanged;
  fmi2Boolean valuesOfContinuousStatesChanged;
  fmi2Boolean nextEventTimeDefined;
  fmi2Real nextEventTime;
} fmi2EventInfo;

#if defined(_WIN32)
#define FMI_EXPORT __declspec(dllexport)
#else
#define FMI_EXPORT __attribute__((visibility("default")))
#endif

/* Linked into a program with other models, functions begin with FMI2_FUNCTION_PREFIX. */
#ifdef FMI2_FUNCTION_PREFIX
#define FMI_JOINED(a, b) a##b
#define FMI_JOIN(a, b) FMI_JOINED(a, b)
#define FMI(name) FMI_JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

#endif
