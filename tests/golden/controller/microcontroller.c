/* A control loop on a microcontroller; compile it with single precision, and without an operating system. */
#include "puma560.h"

void controller_begin(void);
void controller_sample(void);

/* All memory there is: nothing is allocated. */
static puma560_real work[puma560_work_size];
static puma560_real p[24] = {(puma560_real)9.81, (puma560_real)0.4318, (puma560_real)(-0.0203), (puma560_real)0.2435, (puma560_real)(-0.0934), (puma560_real)0.4331, (puma560_real)1.0471975511965976, (puma560_real)(-1.0471975511965976), (puma560_real)2.6179938779914944, (puma560_real)0.6981317007977318, (puma560_real)1.0471975511965976, (puma560_real)1.5707963267948966, (puma560_real)60.0, (puma560_real)300.0, (puma560_real)80.0, (puma560_real)0.8, (puma560_real)0.8, (puma560_real)0.004, (puma560_real)30.0, (puma560_real)80.0, (puma560_real)20.0, (puma560_real)0.15, (puma560_real)0.15, (puma560_real)0.001};
static puma560_real prepared_inverse_dynamics[38];
static puma560_real q[6];
static puma560_real v[6];
static puma560_real vdot[6];
static puma560_real tau[6];

/* Called once after reset. */
void controller_begin(void) {
  puma560_inverse_dynamics_prepare(p, prepared_inverse_dynamics, work);
}

/* Called by the timer's interrupt, once per sampling period. */
void controller_sample(void) {
  /* q, v and what is wanted come from encoders and the path; the results go to the motors. */
  puma560_inverse_dynamics(q, v, vdot, prepared_inverse_dynamics, tau, work);
}
