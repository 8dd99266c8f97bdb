"""model.h: the sizes and start values of one model, for the C that is the same in every FMU."""

from __future__ import annotations

from collections.abc import Iterable

from torseur.codegen.c.spelling import double
from torseur.codegen.fmu.model import DRIFT, TOLERANCE, FmuModel
from torseur.codegen.names import comment


def model_header(model: FmuModel, guid: str) -> str:
    """The header of a model."""
    start = [*(p.start for p in model.parameters), *model.settings, *(u.start for u in model.inputs)]
    return f"""\
/* {comment(model.name)}: sizes and start values. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#define MODEL_GUID "{guid}"
#define MODEL_TOLERANCE {TOLERANCE!r}
#define MODEL_DRIFT {DRIFT!r}
#define MODEL_HAS_MANIFOLD {int(model.has_manifold)}
#define MODEL_HAS_TANGENT {int(model.has_tangent)}

enum {{
  STATES = {len(model.states)},
  PARAMETERS = {len(model.parameters)},
  SETTINGS = {len(model.settings)},
  INPUTS = {len(model.inputs)},
  OUTPUTS = {len(model.outputs)}
}};

static const double start_of_states[] = {_array(s.start for s in model.states)};
static const double nominal_states[] = {_array(model.nominal)};
static const double start_of_p[] = {_array(start)};

/* What a task is called with: see the enumeration in fmi2.c. */
int64_t {model.entry}(int64_t task, double t, double t_end, double rtol, double *step, double *y, double *p,
    double *atol, double *out, void **callbacks, int64_t *failed);
#define MODEL_TASK {model.entry}

#endif
"""


def _array(numbers: Iterable[float]) -> str:
    """An initialiser that is never empty."""
    return f"{{{', '.join(double(number) for number in numbers) or '0.0'}}}"
