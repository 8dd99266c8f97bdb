#if LANES > 1
@LANES@
#define LANE(v, i) (v)[i]
#define LANES_ALL(x) ((lanes){0} + (x))

static TORSEUR_INLINE lanes lanes_load(const double *from) {
  lanes x;
  memcpy(&x, from, sizeof x);
  return x;
}

/* Sines, and `size` behind them cosines, of n angles, in the given rows from `angles` on, `stride` numbers from one to
   the next; by the C library where one is very large or not a number. */
static TORSEUR_INLINE void lanes_sines(const double *angles, ptrdiff_t stride, const int *rows, lanes *sines, int n,
                                       int size) {
  lane_bits beyond = {0};
  for (int k = 0; k < n; k++)
    beyond |= lanes_turn(lanes_load(angles + rows[k] * stride), &sines[k], &sines[size + k]);
  int64_t any = 0;
  for (int i = 0; i < LANES; i++) any |= beyond[i];
  if (any & LANES_BEYOND)
    for (int k = 0; k < n; k++)
      for (int i = 0; i < LANES; i++) {
        sines[k][i] = sin(angles[rows[k] * stride + i]);
        sines[size + k][i] = cos(angles[rows[k] * stride + i]);
      }
}
#else
typedef double lanes;
#define LANE(v, i) (v)
#define LANES_ALL(x) (x)

static TORSEUR_INLINE lanes lanes_load(const double *from) {
  lanes x;
  memcpy(&x, from, sizeof x);
  return x;
}

static TORSEUR_INLINE void lanes_sines(const double *angles, ptrdiff_t stride, const int *rows, lanes *sines, int n,
                                       int size) {
  for (int k = 0; k < n; k++) {
    sines[k] = sin(angles[rows[k] * stride]);
    sines[size + k] = cos(angles[rows[k] * stride]);
  }
}
#endif

/* A product that several sums read is computed once: gcc would compute it again in each of them. */
#if !defined(__GNUC__) || defined(__clang__) || LANES == 1
#define LANES_ONCE(x) (void)(x)
#elif defined(__AVX512F__)
#define LANES_ONCE(x) __asm__("" : "+v"(x))
#elif defined(__SSE2__)
#define LANES_ONCE(x) __asm__("" : "+x"(x))
#elif defined(__aarch64__)
#define LANES_ONCE(x) __asm__("" : "+w"(x))
#else
#define LANES_ONCE(x) (void)(x)
#endif

static TORSEUR_INLINE void lanes_store(double *to, lanes x) { memcpy(to, &x, sizeof x); }
