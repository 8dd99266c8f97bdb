#if LANES > 1
@LANES@
#define LANE(v, i) (v)[i]
#define LANES_ALL(x) ((lanes){0} + (x))

/* Sines, and `size` behind them cosines, of n angles; by the C library where one is very large or not a number. */
static TORSEUR_INLINE void lanes_sines(const lanes *angles, lanes *sines, int n, int size) {
  lane_bits beyond = {0}; /* negative where an angle is beyond the limit, or not a number */
  for (int k = 0; k < n; k++) {
    beyond |= LANES_LIMIT - ((lane_bits)angles[k] & INT64_MAX);
    lanes_turn(angles[k], &sines[k], &sines[size + k]);
  }
  int64_t any = 0;
  for (int i = 0; i < LANES; i++) any |= beyond[i];
  if (any < 0)
    for (int k = 0; k < n; k++)
      for (int i = 0; i < LANES; i++) {
        sines[k][i] = sin(angles[k][i]);
        sines[size + k][i] = cos(angles[k][i]);
      }
}
#else
typedef double lanes;
#define LANE(v, i) (v)
#define LANES_ALL(x) (x)

static TORSEUR_INLINE void lanes_sines(const lanes *angles, lanes *sines, int n, int size) {
  for (int k = 0; k < n; k++) {
    sines[k] = sin(angles[k]);
    sines[size + k] = cos(angles[k]);
  }
}
#endif

static TORSEUR_INLINE lanes lanes_load(const double *from) {
  lanes x;
  memcpy(&x, from, sizeof x);
  return x;
}

static TORSEUR_INLINE void lanes_store(double *to, lanes x) { memcpy(to, &x, sizeof x); }
