// double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q
// orthogonal double pendulum
// Written in C++ by torseur. SI units.
//
// q[0]: q1 in rad, swing of the arm
// q[1]: q2 in rad, swing of the blade
//
// v[0]: q1' in rad/s, rate of q1
// v[1]: q2' in rad/s, rate of q2
//
// vdot[0]: q1'' in rad/s^2, rate of q1'
// vdot[1]: q2'' in rad/s^2, rate of q2'
//
// p[0]: g = 9.81 m/s^2, gravity
// p[1]: m1 = 4 kg, mass of the arm, at the elbow
// p[2]: m2 = 2 kg, mass of the blade
// p[3]: r2 = 5 m, distance from shoulder to elbow
// p[4]: l2 = 2 m, distance from elbow to the blade's mass centre
//
// tau[0]: tau.q1' in N*m, generalised force along q1'
// tau[1]: tau.q2' in N*m, generalised force along q2'
#pragma once

#include <cmath>

#if defined(__GNUC__)
#define TORSEUR_RESTRICT __restrict__
#define TORSEUR_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define TORSEUR_RESTRICT __restrict
#define TORSEUR_NOINLINE __declspec(noinline)
#else
#define TORSEUR_RESTRICT
#define TORSEUR_NOINLINE
#endif

namespace double_pendulum {

constexpr double parameters[5] = {9.81, 4.0, 2.0, 5.0, 2.0};
enum { inverse_dynamics_prepared_size = 6 };
enum { forward_dynamics_prepared_size = 7 };
enum { mass_matrix_by_q_prepared_size = 3 };

// inverse_dynamics: 54 operations (36 multiplication, 14 addition, 4 trigonometric)
// of these, 13 depend on parameters only: inverse_dynamics_prepare computes 6 values
// inputs: q (2), v (2), vdot (2), prepared (6)
// outputs: tau (2)
template <class T>
inline void inverse_dynamics_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared) {
  const T l2 = p[4];
  const T m2 = p[2];
  const T r2 = p[3];
  const T m1 = p[1];
  const T g = p[0];
  const T t0 = l2 * l2;
  const T t1 = t0 * m2;
  const T t2 = l2 * m2;
  const T t3 = T(0.5) * m2;
  const T t4 = t3 * r2;
  const T t5 = T(2.0) * r2;
  const T t6 = t4 * t5;
  const T t7 = r2 * r2;
  const T t8 = m1 * t7;
  const T t9 = t8 + t6;
  const T t10 = m1 * r2;
  const T t11 = m2 * r2;
  const T t12 = t10 + t11;
  prepared[0] = g;
  prepared[1] = t12;
  prepared[2] = t9;
  prepared[3] = t2;
  prepared[4] = r2;
  prepared[5] = t1;
}

template <class T>
inline void inverse_dynamics(const T *TORSEUR_RESTRICT q, const T *TORSEUR_RESTRICT v, const T *TORSEUR_RESTRICT vdot, const T *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT tau) {
  using std::cos;
  using std::sin;
  const T q1 = q[0];
  const T g = prepared[0];
  const T q1_ddot = vdot[0];
  const T r2 = prepared[4];
  const T q2 = q[1];
  const T prepared_3 = prepared[3];
  const T q1_dot = v[0];
  const T q2_ddot = vdot[1];
  const T prepared_5 = prepared[5];
  const T q2_dot = v[1];
  const T prepared_1 = prepared[1];
  const T prepared_2 = prepared[2];
  const T t0 = sin(q1);
  const T t1 = cos(q1);
  const T a_arm_x = g * t0;
  const T t3 = q1_ddot * r2;
  const T t4 = a_arm_x + t3;
  const T t5 = sin(q2);
  const T t6 = cos(q2);
  const T t7 = t4 * t5;
  const T t8 = t7 * prepared_3;
  const T w_blade_y = q1_dot * t6;
  const T w_blade_x = q1_dot * t5;
  const T t11 = w_blade_y * w_blade_x;
  const T t12 = t11 + q2_ddot;
  const T t13 = prepared_5 * t12;
  const T t14 = t8 + t13;
  const T t15 = w_blade_y * w_blade_y;
  const T t16 = q2_dot * q2_dot;
  const T t17 = t15 + t16;
  const T t18 = prepared_3 * t17;
  const T t19 = t18 * t6;
  const T t20 = prepared_3 * t12;
  const T t21 = t20 * t5;
  const T t22 = t19 + t21;
  const T t23 = t22 * r2;
  const T t24 = w_blade_x * q2_dot;
  const T t25 = q1_ddot * t6;
  const T dw_blade_y = t25 - t24;
  const T t27 = t24 - dw_blade_y;
  const T t28 = prepared_5 * t27;
  const T a_arm_y = g * t1;
  const T t30 = q1_dot * q1_dot;
  const T t31 = t30 * r2;
  const T t32 = a_arm_y + t31;
  const T t33 = t32 * prepared_3;
  const T t34 = t33 + t28;
  const T t35 = t34 * t6;
  const T t36 = t23 - t35;
  const T t37 = a_arm_x * prepared_1;
  const T t38 = prepared_2 * q1_ddot;
  const T t39 = t37 + t38;
  const T t40 = t39 + t36;
  tau[0] = t40;
  tau[1] = t14;
}

// forward_dynamics: 66 operations (44 multiplication, 16 addition, 4 trigonometric, 2 division)
// of these, 14 depend on parameters only: forward_dynamics_prepare computes 7 values
// inputs: q (2), v (2), tau (2), prepared (7)
// outputs: vdot (2)
template <class T>
inline void forward_dynamics_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared) {
  const T m1 = p[1];
  const T r2 = p[3];
  const T m2 = p[2];
  const T l2 = p[4];
  const T g = p[0];
  const T t0 = m1 * r2;
  const T t1 = m2 * r2;
  const T t2 = t0 + t1;
  const T t3 = l2 * l2;
  const T t4 = t3 * m2;
  const T t5 = T(1.0) / t4;
  const T t6 = l2 * m2;
  const T t7 = T(0.5) * m2;
  const T t8 = t7 * r2;
  const T t9 = T(2.0) * r2;
  const T t10 = t8 * t9;
  const T t11 = r2 * r2;
  const T t12 = m1 * t11;
  const T t13 = t12 + t10;
  prepared[0] = t4;
  prepared[1] = t13;
  prepared[2] = t6;
  prepared[3] = r2;
  prepared[4] = t5;
  prepared[5] = g;
  prepared[6] = t2;
}

template <class T>
inline void forward_dynamics(const T *TORSEUR_RESTRICT q, const T *TORSEUR_RESTRICT v, const T *TORSEUR_RESTRICT tau, const T *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT vdot) {
  using std::cos;
  using std::sin;
  const T q2 = q[1];
  const T q1_dot = v[0];
  const T q2_dot = v[1];
  const T prepared_2 = prepared[2];
  const T r2 = prepared[3];
  const T prepared_0 = prepared[0];
  const T q1 = q[0];
  const T g = prepared[5];
  const T prepared_6 = prepared[6];
  const T tau_q1_dot = tau[0];
  const T tau_q2_dot = tau[1];
  const T prepared_4 = prepared[4];
  const T prepared_1 = prepared[1];
  const T t0 = cos(q2);
  const T t1 = sin(q2);
  const T w_blade_y = q1_dot * t0;
  const T t3 = w_blade_y * w_blade_y;
  const T t4 = q2_dot * q2_dot;
  const T t5 = t3 + t4;
  const T t6 = prepared_2 * t5;
  const T t7 = t6 * t0;
  const T w_blade_x = q1_dot * t1;
  const T t9 = w_blade_y * w_blade_x;
  const T t10 = prepared_2 * t9;
  const T t11 = t10 * t1;
  const T t12 = t7 + t11;
  const T t13 = t12 * r2;
  const T t14 = w_blade_x * q2_dot;
  const T t15 = T(2.0) * t14;
  const T t16 = prepared_0 * t15;
  const T t17 = cos(q1);
  const T t18 = sin(q1);
  const T a_arm_y = g * t17;
  const T t20 = q1_dot * q1_dot;
  const T t21 = t20 * r2;
  const T t22 = a_arm_y + t21;
  const T t23 = t22 * prepared_2;
  const T t24 = t23 + t16;
  const T t25 = t24 * t0;
  const T t26 = t13 - t25;
  const T a_arm_x = g * t18;
  const T t28 = a_arm_x * prepared_6;
  const T t29 = t28 + t26;
  const T t30 = tau_q1_dot - t29;
  const T t31 = a_arm_x * t1;
  const T t32 = t31 * prepared_2;
  const T t33 = prepared_0 * t9;
  const T t34 = t32 + t33;
  const T t35 = tau_q2_dot - t34;
  const T t36 = prepared_2 * t1;
  const T t37 = t36 * r2;
  const T t38 = prepared_4 * t37;
  const T t39 = t38 * t35;
  const T t40 = t30 - t39;
  const T t41 = prepared_0 * t1;
  const T t42 = t41 * t1;
  const T t43 = prepared_0 - t42;
  const T t44 = t43 + prepared_1;
  const T t45 = t37 * t38;
  const T t46 = t44 - t45;
  const T t47 = T(1.0) / t46;
  const T t48 = t47 * t40;
  const T t49 = t48 * t38;
  const T t50 = prepared_4 * t35;
  const T t51 = t50 - t49;
  vdot[0] = t48;
  vdot[1] = t51;
}

// mass_matrix_by_q: 13 operations (9 multiplication, 2 trigonometric, 1 addition, 1 negation)
// of these, 3 depend on parameters only: mass_matrix_by_q_prepare computes 3 values
// inputs: q (2), prepared (3)
// outputs: dmass_matrix_dq (2 x 2 x 2)
template <class T>
inline void mass_matrix_by_q_prepare(const T *TORSEUR_RESTRICT p, T *TORSEUR_RESTRICT prepared) {
  const T l2 = p[4];
  const T m2 = p[2];
  const T r2 = p[3];
  const T t0 = l2 * m2;
  const T t1 = l2 * l2;
  const T t2 = t1 * m2;
  prepared[0] = t2;
  prepared[1] = t0;
  prepared[2] = r2;
}

template <class T>
inline void mass_matrix_by_q(const T *TORSEUR_RESTRICT q, const T *TORSEUR_RESTRICT prepared, T *TORSEUR_RESTRICT dmass_matrix_dq) {
  using std::cos;
  using std::sin;
  const T q2 = q[1];
  const T prepared_1 = prepared[1];
  const T r2 = prepared[2];
  const T prepared_0 = prepared[0];
  const T t0 = cos(q2);
  const T t1 = sin(q2);
  const T t2 = prepared_1 * t0;
  const T t3 = t2 * r2;
  const T t4 = prepared_0 * t1;
  const T t5 = t4 * t0;
  const T t6 = prepared_0 * t0;
  const T t7 = t6 * t1;
  const T t8 = t5 + t7;
  const T t9 = -t8;
  dmass_matrix_dq[0] = T(0.0);
  dmass_matrix_dq[2] = T(0.0);
  dmass_matrix_dq[4] = T(0.0);
  dmass_matrix_dq[6] = T(0.0);
  dmass_matrix_dq[7] = T(0.0);
  dmass_matrix_dq[1] = t9;
  dmass_matrix_dq[3] = t3;
  dmass_matrix_dq[5] = t3;
}

}  // namespace double_pendulum

#undef TORSEUR_RESTRICT
#undef TORSEUR_NOINLINE
