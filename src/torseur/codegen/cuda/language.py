"""How names and numbers are written in CUDA C++; T is the scalar."""

from __future__ import annotations

from dataclasses import replace

from torseur.codegen.cpp.language import CPP

RESERVED = CPP.reserved | frozenset((
    "atomicAdd", "blockDim", "blockIdx", "dim3", "float2", "float4", "double2", "gridDim", "half", "lane", "lanes",
    "n", "rsqrt", "sincos", "parked", "parked_of_block", "sincosf", "sine_cosine", "stride",
    "stride_of", "threadIdx", "values_of", "warpSize",
))  # fmt: skip

CUDA = replace(CPP, name="CUDA C++", reserved=RESERVED)
