! double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q
! orthogonal double pendulum
! Written in Fortran by torseur. SI units.
!
! q(1): q1 in rad, swing of the arm
! q(2): q2 in rad, swing of the blade
!
! v(1): q1' in rad/s, rate of q1
! v(2): q2' in rad/s, rate of q2
!
! vdot(1): q1'' in rad/s^2, rate of q1'
! vdot(2): q2'' in rad/s^2, rate of q2'
!
! p(1): g = 9.81 m/s^2, gravity
! p(2): m1 = 4 kg, mass of the arm, at the elbow
! p(3): m2 = 2 kg, mass of the blade
! p(4): r2 = 5 m, distance from shoulder to elbow
! p(5): l2 = 2 m, distance from elbow to the blade's mass centre
!
! tau(1): tau.q1' in N*m, generalised force along q1'
! tau(2): tau.q2' in N*m, generalised force along q2'

module double_pendulum
  use, intrinsic :: iso_fortran_env, only: dp => real64
  implicit none
  private
  public :: inverse_dynamics_prepare
  public :: inverse_dynamics
  public :: forward_dynamics_prepare
  public :: forward_dynamics
  public :: mass_matrix_by_q_prepare
  public :: mass_matrix_by_q
  public :: inverse_dynamics_prepared_size
  public :: forward_dynamics_prepared_size
  public :: mass_matrix_by_q_prepared_size
  integer, parameter :: inverse_dynamics_prepared_size = 6
  integer, parameter :: forward_dynamics_prepared_size = 7
  integer, parameter :: mass_matrix_by_q_prepared_size = 3
  public :: parameters
  real(dp), parameter :: parameters(5) = [real(dp) :: 9.81_dp, 4.0_dp, 2.0_dp, 5.0_dp, 2.0_dp]
contains

  ! inverse_dynamics: 54 operations (36 multiplication, 14 addition, 4 trigonometric)
  ! of these, 13 depend on parameters only: inverse_dynamics_prepare computes 6 values
  ! inputs: q (2), v (2), vdot (2), prepared (6)
  ! outputs: tau (2)
  pure subroutine inverse_dynamics_prepare(p, prepared)
    real(dp), intent(in) :: p(5)
    real(dp), intent(out) :: prepared(6)
    real(dp) :: l2, m2, r2, m1, g, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12
    l2 = p(5)
    m2 = p(3)
    r2 = p(4)
    m1 = p(2)
    g = p(1)
    t0 = l2 * l2
    t1 = t0 * m2
    t2 = l2 * m2
    t3 = 0.5_dp * m2
    t4 = t3 * r2
    t5 = 2.0_dp * r2
    t6 = t4 * t5
    t7 = r2 * r2
    t8 = m1 * t7
    t9 = t8 + t6
    t10 = m1 * r2
    t11 = m2 * r2
    t12 = t10 + t11
    prepared(1) = g
    prepared(2) = t12
    prepared(3) = t9
    prepared(4) = t2
    prepared(5) = r2
    prepared(6) = t1
  end subroutine inverse_dynamics_prepare

  pure subroutine inverse_dynamics(q, v, vdot, prepared, tau)
    real(dp), intent(in) :: q(2)
    real(dp), intent(in) :: v(2)
    real(dp), intent(in) :: vdot(2)
    real(dp), intent(in) :: prepared(6)
    real(dp), intent(out) :: tau(2)
    real(dp) :: q1, g, q1_ddot, r2, q2, prepared_3, q1_dot, q2_ddot, prepared_5, q2_dot, prepared_1, prepared_2, t0, &
        t1, a_arm_x, t3, t4, t5, t6, t7, t8, w_blade_y, w_blade_x, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, &
        t21, t22, t23, t24, t25, dw_blade_y, t27, t28, a_arm_y, t30, t31, t32, t33, t34, t35, t36, t37
    real(dp) :: t38, t39, t40
    q1 = q(1)
    g = prepared(1)
    q1_ddot = vdot(1)
    r2 = prepared(5)
    q2 = q(2)
    prepared_3 = prepared(4)
    q1_dot = v(1)
    q2_ddot = vdot(2)
    prepared_5 = prepared(6)
    q2_dot = v(2)
    prepared_1 = prepared(2)
    prepared_2 = prepared(3)
    t0 = sin(q1)
    t1 = cos(q1)
    a_arm_x = g * t0
    t3 = q1_ddot * r2
    t4 = a_arm_x + t3
    t5 = sin(q2)
    t6 = cos(q2)
    t7 = t4 * t5
    t8 = t7 * prepared_3
    w_blade_y = q1_dot * t6
    w_blade_x = q1_dot * t5
    t11 = w_blade_y * w_blade_x
    t12 = t11 + q2_ddot
    t13 = prepared_5 * t12
    t14 = t8 + t13
    t15 = w_blade_y * w_blade_y
    t16 = q2_dot * q2_dot
    t17 = t15 + t16
    t18 = prepared_3 * t17
    t19 = t18 * t6
    t20 = prepared_3 * t12
    t21 = t20 * t5
    t22 = t19 + t21
    t23 = t22 * r2
    t24 = w_blade_x * q2_dot
    t25 = q1_ddot * t6
    dw_blade_y = t25 - t24
    t27 = t24 - dw_blade_y
    t28 = prepared_5 * t27
    a_arm_y = g * t1
    t30 = q1_dot * q1_dot
    t31 = t30 * r2
    t32 = a_arm_y + t31
    t33 = t32 * prepared_3
    t34 = t33 + t28
    t35 = t34 * t6
    t36 = t23 - t35
    t37 = a_arm_x * prepared_1
    t38 = prepared_2 * q1_ddot
    t39 = t37 + t38
    t40 = t39 + t36
    tau(1) = t40
    tau(2) = t14
  end subroutine inverse_dynamics

  ! forward_dynamics: 66 operations (44 multiplication, 16 addition, 4 trigonometric, 2 division)
  ! of these, 14 depend on parameters only: forward_dynamics_prepare computes 7 values
  ! inputs: q (2), v (2), tau (2), prepared (7)
  ! outputs: vdot (2)
  pure subroutine forward_dynamics_prepare(p, prepared)
    real(dp), intent(in) :: p(5)
    real(dp), intent(out) :: prepared(7)
    real(dp) :: m1, r2, m2, l2, g, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13
    m1 = p(2)
    r2 = p(4)
    m2 = p(3)
    l2 = p(5)
    g = p(1)
    t0 = m1 * r2
    t1 = m2 * r2
    t2 = t0 + t1
    t3 = l2 * l2
    t4 = t3 * m2
    t5 = 1.0_dp / t4
    t6 = l2 * m2
    t7 = 0.5_dp * m2
    t8 = t7 * r2
    t9 = 2.0_dp * r2
    t10 = t8 * t9
    t11 = r2 * r2
    t12 = m1 * t11
    t13 = t12 + t10
    prepared(1) = t4
    prepared(2) = t13
    prepared(3) = t6
    prepared(4) = r2
    prepared(5) = t5
    prepared(6) = g
    prepared(7) = t2
  end subroutine forward_dynamics_prepare

  pure subroutine forward_dynamics(q, v, tau, prepared, vdot)
    real(dp), intent(in) :: q(2)
    real(dp), intent(in) :: v(2)
    real(dp), intent(in) :: tau(2)
    real(dp), intent(in) :: prepared(7)
    real(dp), intent(out) :: vdot(2)
    real(dp) :: q2, q1_dot, q2_dot, prepared_2, r2, prepared_0, q1, g, prepared_6, tau_q1_dot, tau_q2_dot, &
        prepared_4, prepared_1, t0, t1, w_blade_y, t3, t4, t5, t6, t7, w_blade_x, t9, t10, t11, t12, t13, t14, t15, &
        t16, t17, t18, a_arm_y, t20, t21, t22, t23, t24, t25, t26, a_arm_x, t28, t29, t30, t31, t32, t33, t34, t35, t36
    real(dp) :: t37, t38, t39, t40, t41, t42, t43, t44, t45, t46, t47, t48, t49, t50, t51
    q2 = q(2)
    q1_dot = v(1)
    q2_dot = v(2)
    prepared_2 = prepared(3)
    r2 = prepared(4)
    prepared_0 = prepared(1)
    q1 = q(1)
    g = prepared(6)
    prepared_6 = prepared(7)
    tau_q1_dot = tau(1)
    tau_q2_dot = tau(2)
    prepared_4 = prepared(5)
    prepared_1 = prepared(2)
    t0 = cos(q2)
    t1 = sin(q2)
    w_blade_y = q1_dot * t0
    t3 = w_blade_y * w_blade_y
    t4 = q2_dot * q2_dot
    t5 = t3 + t4
    t6 = prepared_2 * t5
    t7 = t6 * t0
    w_blade_x = q1_dot * t1
    t9 = w_blade_y * w_blade_x
    t10 = prepared_2 * t9
    t11 = t10 * t1
    t12 = t7 + t11
    t13 = t12 * r2
    t14 = w_blade_x * q2_dot
    t15 = 2.0_dp * t14
    t16 = prepared_0 * t15
    t17 = cos(q1)
    t18 = sin(q1)
    a_arm_y = g * t17
    t20 = q1_dot * q1_dot
    t21 = t20 * r2
    t22 = a_arm_y + t21
    t23 = t22 * prepared_2
    t24 = t23 + t16
    t25 = t24 * t0
    t26 = t13 - t25
    a_arm_x = g * t18
    t28 = a_arm_x * prepared_6
    t29 = t28 + t26
    t30 = tau_q1_dot - t29
    t31 = a_arm_x * t1
    t32 = t31 * prepared_2
    t33 = prepared_0 * t9
    t34 = t32 + t33
    t35 = tau_q2_dot - t34
    t36 = prepared_2 * t1
    t37 = t36 * r2
    t38 = prepared_4 * t37
    t39 = t38 * t35
    t40 = t30 - t39
    t41 = prepared_0 * t1
    t42 = t41 * t1
    t43 = prepared_0 - t42
    t44 = t43 + prepared_1
    t45 = t37 * t38
    t46 = t44 - t45
    t47 = 1.0_dp / t46
    t48 = t47 * t40
    t49 = t48 * t38
    t50 = prepared_4 * t35
    t51 = t50 - t49
    vdot(1) = t48
    vdot(2) = t51
  end subroutine forward_dynamics

  ! mass_matrix_by_q: 13 operations (9 multiplication, 2 trigonometric, 1 addition, 1 negation)
  ! of these, 3 depend on parameters only: mass_matrix_by_q_prepare computes 3 values
  ! inputs: q (2), prepared (3)
  ! outputs: dmass_matrix_dq (2 x 2 x 2)
  pure subroutine mass_matrix_by_q_prepare(p, prepared)
    real(dp), intent(in) :: p(5)
    real(dp), intent(out) :: prepared(3)
    real(dp) :: l2, m2, r2, t0, t1, t2
    l2 = p(5)
    m2 = p(3)
    r2 = p(4)
    t0 = l2 * m2
    t1 = l2 * l2
    t2 = t1 * m2
    prepared(1) = t2
    prepared(2) = t0
    prepared(3) = r2
  end subroutine mass_matrix_by_q_prepare

  pure subroutine mass_matrix_by_q(q, prepared, dmass_matrix_dq)
    real(dp), intent(in) :: q(2)
    real(dp), intent(in) :: prepared(3)
    real(dp), intent(out) :: dmass_matrix_dq(2, 2, 2)
    real(dp) :: q2, prepared_1, r2, prepared_0, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9
    q2 = q(2)
    prepared_1 = prepared(2)
    r2 = prepared(3)
    prepared_0 = prepared(1)
    t0 = cos(q2)
    t1 = sin(q2)
    t2 = prepared_1 * t0
    t3 = t2 * r2
    t4 = prepared_0 * t1
    t5 = t4 * t0
    t6 = prepared_0 * t0
    t7 = t6 * t1
    t8 = t5 + t7
    t9 = -t8
    dmass_matrix_dq(1, 1, 1) = 0.0_dp
    dmass_matrix_dq(1, 2, 1) = 0.0_dp
    dmass_matrix_dq(2, 1, 1) = 0.0_dp
    dmass_matrix_dq(2, 2, 1) = 0.0_dp
    dmass_matrix_dq(2, 2, 2) = 0.0_dp
    dmass_matrix_dq(1, 1, 2) = t9
    dmass_matrix_dq(1, 2, 2) = t3
    dmass_matrix_dq(2, 1, 2) = t3
  end subroutine mass_matrix_by_q
end module double_pendulum
