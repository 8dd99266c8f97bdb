/* Read before generated C, it makes any compiler one without vectors. System headers believe the compiler's own
   name, so they come before it is taken away. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#undef __GNUC__
