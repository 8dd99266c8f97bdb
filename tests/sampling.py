"""Samples of cases without number, for every run of the suite; `make thorough` runs them all."""

import zlib


def is_sampled(case: str, one_of: int = 2) -> bool:
    """Whether a case is in the sample: by its name, so that it is there, or not, in every run on every machine."""
    return zlib.crc32(case.encode()) % one_of == 0
