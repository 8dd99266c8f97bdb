#if LANES > 1
@LANES@
#define LANE(v, i) (v)[i]
#define LANES_ALL(x) ((lanes){0} + (x))

static TORSEUR_INLINE void lanes_sincos(lanes x, lanes *sine, lanes *cosine) {
  const lane_bits inside = (x <= 65536.0) & (x >= -65536.0);
  int64_t all = -1;
  for (int i = 0; i < LANES; i++) all &= inside[i];
  lanes_turn(x, sine, cosine);
  if (all == 0)
    for (int i = 0; i < LANES; i++) {
      (*sine)[i] = sin(x[i]);
      (*cosine)[i] = cos(x[i]);
    }
}
#else
typedef double lanes;
#define LANE(v, i) (v)
#define LANES_ALL(x) (x)

static TORSEUR_INLINE void lanes_sincos(lanes x, lanes *sine, lanes *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
#endif

static TORSEUR_INLINE lanes lanes_load(const double *from) {
  lanes x;
  memcpy(&x, from, sizeof x);
  return x;
}

static TORSEUR_INLINE void lanes_store(double *to, lanes x) { memcpy(to, &x, sizeof x); }
