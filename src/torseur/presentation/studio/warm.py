"""Everything a worker needs, imported and used once: workers are copies of the process that has done this.

Importing this module does the work, because the process that makes workers can be told what to import and nothing else.
"""

from __future__ import annotations

import gc
import os

# One thread per library: a worker has one core to itself, and processes with threads must not be copied.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

FIRST = ("double_pendulum", "four_bar")


def _warm() -> None:
    from torseur.analysis.sensitivity.method_routines import kept_programs
    from torseur.computation.simulation.loop.routine_binding import kept_routines
    from torseur.computation.simulation.model.first_order_form import kept_systems
    from torseur.description.library import source_of
    from torseur.presentation.levels.levels import LEVELS
    from torseur.presentation.studio.answers.describe_text import describe
    from torseur.presentation.studio.answers.examination import examine
    from torseur.presentation.studio.answers.export import export
    from torseur.presentation.studio.answers.motion_answers import move
    from torseur.presentation.studio.answers.text_model import MOST_KEPT, model_of
    from torseur.presentation.studio.messages import Request

    # A worker is asked about the last few texts only; each holds up to four routines of some hundred kilobytes.
    kept_systems.most, kept_programs.most, kept_routines.most = MOST_KEPT, MOST_KEPT, 4 * MOST_KEPT
    for name in FIRST:
        text = source_of(name)
        for level in LEVELS:
            list(describe(Request("describe", 0, text, level=level), None))
        list(move(Request("move", 0, text), None))
        list(examine(Request("examine", 0, text, what="loops"), None))
    list(export(Request("export", 0, source_of(FIRST[0]), what="code"), None))
    model_of.cache_clear()
    gc.collect()
    gc.freeze()  # what is there now stays, and copies share its memory


_warm()
