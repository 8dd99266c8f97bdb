typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t lane_bits __attribute__((vector_size(8 * LANES)));

#define LANES_BEYOND (-INT64_C(0x20000)) /* bits of what lanes_turn returns for an angle it cannot do */

/* Sine and cosine of |x| < 65536 pi/2, within 1.1 units in the last place; returns the quarter turns of x + 65536. */
static TORSEUR_INLINE lane_bits lanes_turn(lanes x, lanes *sine, lanes *cosine) {
  /* x = k pi/2 + (r + t), the products of k with parts of pi/2 exact (Cody and Waite). */
  const lanes shifted = x * 0.63661977236758134308 + 6755399441055744.0;
  const lane_bits quadrant = (lane_bits)shifted;
  const lanes k = shifted - 6755399441055744.0;
  const lanes near = x - k * 1.57079632673412561417e+00;
  const lanes r = near - k * 6.07710050630396597660e-11;
  const lanes t = ((near - r) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
  /* Minimax polynomials for |r| <= pi/4, of the degrees that fdlibm takes. */
  const lanes z = r * r, square = z + r * (t + t);
  const lanes s = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
      + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
  const lanes c = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
      + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
  const lanes sine_r = r + (square * r * s + t);
  const lanes cosine_r = 1.0 + square * (-0.5 + z * c);
  /* Odd quadrants exchange the two; the next bit is the sign. */
  const lane_bits odd = -(quadrant & 1), turned = quadrant << 62;
  const lane_bits exchange = ((lane_bits)sine_r ^ (lane_bits)cosine_r) & odd;
  *sine = (lanes)((lane_bits)sine_r ^ exchange ^ (turned & INT64_MIN));
  *cosine = (lanes)((lane_bits)cosine_r ^ exchange ^ ((turned + (INT64_C(1) << 62)) & INT64_MIN));
  return quadrant - (INT64_C(0x4338000000000000) - 0x10000);
}
