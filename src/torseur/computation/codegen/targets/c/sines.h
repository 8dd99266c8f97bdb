/* Vectors of numbers, and sines and cosines of n angles (n a multiple of 8), the cosines behind the sines. */
#if defined(__GNUC__) && !defined(__FAST_MATH__)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
@LANES@
static TORSEUR_INLINE void sines_of(const double *restrict angles, double *restrict sines, int n) {
  lane_bits beyond = {0};
  for (int i = 0; i < n; i += LANES) {
    lanes x, sine, cosine;
    memcpy(&x, angles + i, sizeof x);
    beyond |= lanes_turn(x, &sine, &cosine);
    memcpy(sines + i, &sine, sizeof sine);
    memcpy(sines + n + i, &cosine, sizeof cosine);
  }
  int64_t any = 0;
  for (int i = 0; i < LANES; i++) any |= beyond[i];
  if (any & LANES_BEYOND)
    for (int i = 0; i < n; i++) {
      sines[i] = sin(angles[i]);
      sines[n + i] = cos(angles[i]);
    }
}
#else
typedef double lanes;
#define LANES 1

static void sines_of(const double *restrict angles, double *restrict sines, int n) {
  for (int i = 0; i < n; i++) {
    sines[i] = sin(angles[i]);
    sines[n + i] = cos(angles[i]);
  }
}
#endif

static TORSEUR_INLINE lanes lanes_load(const double *from) {
  lanes x;
  memcpy(&x, from, sizeof x);
  return x;
}

static TORSEUR_INLINE void lanes_store(double *to, lanes x) { memcpy(to, &x, sizeof x); }

/* The first lanes of a vector. */
static TORSEUR_INLINE void lanes_store_some(double *to, lanes x, int count) {
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__FAST_MATH__)
  __builtin_ia32_storeupd512_mask(to, x, (unsigned char)((1u << count) - 1));
#else
  if (count == LANES)
    lanes_store(to, x);
  else
    memcpy(to, &x, count * sizeof(double));
#endif
}
