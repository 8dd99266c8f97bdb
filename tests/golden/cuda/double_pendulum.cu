#include "double_pendulum.cuh"
