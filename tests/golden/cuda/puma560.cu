#include "puma560.cuh"
