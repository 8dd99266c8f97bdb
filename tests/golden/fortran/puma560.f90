! puma560: inverse_dynamics
! Puma 560 arm, six revolute joints
! Written in Fortran by torseur. SI units.
!
! q(1): q1 in rad
! q(2): q2 in rad
! q(3): q3 in rad
! q(4): q4 in rad
! q(5): q5 in rad
! q(6): q6 in rad
!
! v(1): q1' in rad/s, rate of q1
! v(2): q2' in rad/s, rate of q2
! v(3): q3' in rad/s, rate of q3
! v(4): q4' in rad/s, rate of q4
! v(5): q5' in rad/s, rate of q5
! v(6): q6' in rad/s, rate of q6
!
! vdot(1): q1'' in rad/s^2, rate of q1'
! vdot(2): q2'' in rad/s^2, rate of q2'
! vdot(3): q3'' in rad/s^2, rate of q3'
! vdot(4): q4'' in rad/s^2, rate of q4'
! vdot(5): q5'' in rad/s^2, rate of q5'
! vdot(6): q6'' in rad/s^2, rate of q6'
!
! p(1): g = 9.81 m/s^2, gravity
! p(2): a2 = 0.4318 m, length of the upper arm
! p(3): a3 = -0.0203 m, offset of the elbow
! p(4): d2 = 0.2435 m, offset of the shoulder
! p(5): d3 = -0.0934 m, offset of the forearm
! p(6): d4 = 0.4331 m, length of the forearm
! p(7): goal1 = 1.04719755 rad, goal of the waist
! p(8): goal2 = -1.04719755 rad, goal of the shoulder
! p(9): goal3 = 2.61799388 rad, goal of the elbow
! p(10): goal4 = 0.698131701 rad, goal of the forearm
! p(11): goal5 = 1.04719755 rad, goal of the wrist
! p(12): goal6 = 1.57079633 rad, goal of the hand
! p(13): k1 = 60 N*m, stiffness of servo 1
! p(14): k2 = 300 N*m, stiffness of servo 2
! p(15): k3 = 80 N*m, stiffness of servo 3
! p(16): k4 = 0.8 N*m, stiffness of servo 4
! p(17): k5 = 0.8 N*m, stiffness of servo 5
! p(18): k6 = 0.004 N*m, stiffness of servo 6
! p(19): c1 = 30 N*m*s, damping of servo 1
! p(20): c2 = 80 N*m*s, damping of servo 2
! p(21): c3 = 20 N*m*s, damping of servo 3
! p(22): c4 = 0.15 N*m*s, damping of servo 4
! p(23): c5 = 0.15 N*m*s, damping of servo 5
! p(24): c6 = 0.001 N*m*s, damping of servo 6

module puma560
  use, intrinsic :: iso_fortran_env, only: dp => real64
  implicit none
  private
  public :: inverse_dynamics_prepare
  public :: inverse_dynamics
  public :: inverse_dynamics_prepared_size
  integer, parameter :: inverse_dynamics_prepared_size = 38
  public :: parameters
  real(dp), parameter :: parameters(24) = [real(dp) :: 9.81_dp, 0.4318_dp, (-0.0203_dp), 0.2435_dp, (-0.0934_dp), &
      0.4331_dp, 1.0471975511965976_dp, (-1.0471975511965976_dp), 2.6179938779914944_dp, 0.6981317007977318_dp, &
      1.0471975511965976_dp, 1.5707963267948966_dp, 60.0_dp, 300.0_dp, 80.0_dp, 0.8_dp, 0.8_dp, 0.004_dp, 30.0_dp, &
      80.0_dp, 20.0_dp, 0.15_dp, 0.15_dp, 0.001_dp]
contains

  ! inverse_dynamics: 467 operations (234 multiplication, 223 addition, 10 trigonometric)
  ! of these, 68 depend on parameters only: inverse_dynamics_prepare computes 38 values
  ! inputs: q (6), v (6), vdot (6), prepared (38)
  ! outputs: tau (6)
  pure subroutine inverse_dynamics_prepare(p, prepared)
    real(dp), intent(in) :: p(24)
    real(dp), intent(out) :: prepared(38)
    real(dp) :: d4, a3, d3, a2, d2, g, c1, goal1, k1, c2, goal2, k2, c3, goal3, k3, c4, goal4, k4, c5, goal5, k5, c6, &
        goal6, k6, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, &
        t21, t22, t23, t24, t25
    real(dp) :: t26, t27, t28, t29, t30, t31, t32, t33, t34, t35, t36, t37, t38, t39, t40, t41, t42, t43, t44, t45, &
        t46, t47, t48, t49, t50, t51, t52, t53, t54, t55, t56, t57, t58, t59, t60, t61, t62, t63, t64, t65, t66, t67
    d4 = p(6)
    a3 = p(3)
    d3 = p(5)
    a2 = p(2)
    d2 = p(4)
    g = p(1)
    c1 = p(19)
    goal1 = p(7)
    k1 = p(13)
    c2 = p(20)
    goal2 = p(8)
    k2 = p(14)
    c3 = p(21)
    goal3 = p(9)
    k3 = p(15)
    c4 = p(22)
    goal4 = p(10)
    k4 = p(16)
    c5 = p(23)
    goal5 = p(11)
    k5 = p(17)
    c6 = p(24)
    goal6 = p(12)
    k6 = p(18)
    t0 = 0.625_dp * d4
    t1 = 0.015579999999999998_dp - t0
    t2 = 2.0_dp * d4
    t3 = t2 * t1
    t4 = 0.0014460200000000003_dp - t3
    t5 = 0.09046080000000001_dp + t4
    t6 = a3 * a3
    t7 = 1.25_dp * t6
    t8 = 0.013440800000000001_dp + t7
    t9 = t8 + t5
    t10 = t7 - t3
    t11 = 0.0014460200000000003_dp + t10
    t12 = 0.08952_dp + t11
    t13 = t9 - t12
    t14 = 0.5_dp * t13
    t15 = 3.025_dp * d3
    t16 = 0.0672_dp + t15
    t17 = 2.0_dp * d3
    t18 = t16 * t17
    t19 = a2 * a2
    t20 = 6.05_dp * t19
    t21 = t20 + t18
    t22 = t21 + t14
    t23 = 0.608912_dp + t22
    t24 = t14 + t18
    t25 = 0.1350808_dp + t24
    t26 = t23 + t25
    t27 = 0.6200840000000001_dp + t20
    t28 = t26 - t27
    t29 = 0.5_dp * t28
    t30 = t23 - t29
    t31 = t25 - t29
    t32 = t30 + t31
    t33 = t30 - t31
    t34 = t8 - t14
    t35 = t5 - t14
    t36 = t34 - t35
    t37 = t34 + t35
    t38 = 1.25_dp * d4
    t39 = 0.015579999999999998_dp - t38
    t40 = (-0.336_dp) + t39
    t41 = a3 * t1
    t42 = 0.625_dp * a3
    t43 = t42 * d4
    t44 = t43 - t41
    t45 = 1.25_dp * a3
    t46 = 6.05_dp * a2
    t47 = 1.1832_dp + t46
    t48 = a2 * t16
    t49 = 3.025_dp * a2
    t50 = t49 * d3
    t51 = t48 + t50
    t52 = 0.018931200000000002_dp - t51
    t53 = 6.05_dp * d3
    t54 = 0.0672_dp + t53
    t55 = (-0.2784_dp) + t54
    t56 = 11.725_dp * d2
    t57 = t56 + t55
    t58 = 2.0_dp * d2
    t59 = t58 * t57
    t60 = t29 + t59
    t61 = 0.7_dp + t60
    t62 = 0.35_dp + t60
    t63 = t61 - t62
    t64 = 0.5_dp * t63
    t65 = t62 - t64
    t66 = 0.35_dp - t64
    t67 = t65 + t66
    prepared(1) = t67
    prepared(2) = t52
    prepared(3) = t30
    prepared(4) = d2
    prepared(5) = t47
    prepared(6) = a2
    prepared(7) = d3
    prepared(8) = t45
    prepared(9) = t34
    prepared(10) = t44
    prepared(11) = g
    prepared(12) = d4
    prepared(13) = a3
    prepared(14) = t35
    prepared(15) = t40
    prepared(16) = t31
    prepared(17) = c1
    prepared(18) = goal1
    prepared(19) = k1
    prepared(20) = t37
    prepared(21) = t36
    prepared(22) = t33
    prepared(23) = t32
    prepared(24) = c2
    prepared(25) = goal2
    prepared(26) = k2
    prepared(27) = c3
    prepared(28) = goal3
    prepared(29) = k3
    prepared(30) = c4
    prepared(31) = goal4
    prepared(32) = k4
    prepared(33) = c5
    prepared(34) = goal5
    prepared(35) = k5
    prepared(36) = c6
    prepared(37) = goal6
    prepared(38) = k6
  end subroutine inverse_dynamics_prepare

  pure subroutine inverse_dynamics(q, v, vdot, prepared, tau)
    real(dp), intent(in) :: q(6)
    real(dp), intent(in) :: v(6)
    real(dp), intent(in) :: vdot(6)
    real(dp), intent(in) :: prepared(38)
    real(dp), intent(out) :: tau(6)
    real(dp) :: q2, q1_dot, q2_dot, q1_ddot, q3, q3_dot, q4, q2_ddot, q3_ddot, q4_dot, q5, q4_ddot, q5_dot, q6_ddot, &
        q6, goal6, k6, c6, q6_dot, q5_ddot, d3, a2, d2, g, d4, a3, goal5, k5, c5, goal4, k4, c4, prepared_7, &
        prepared_14, prepared_20, prepared_19, prepared_9, goal3, k3, c3, prepared_21, prepared_22, prepared_1, &
        prepared_4, goal2, k2, c2, prepared_13, prepared_8, prepared_2
    real(dp) :: prepared_15, prepared_0, q1, goal1, k1, c1, t0, t1, t2, t3, t4, dw_link2_y, t6, t7, t8, t9, t10, t11, &
        t12, t13, t14, t15, t16, w_link3_y, t18, dw_link3_x, t20, t21, t22, dw_link3_z, t24, t25, t26, t27, t28, t29, &
        w_link3_z, t31, w_link4_y, t33, dw_link4_x, t35, t36, t37, t38, t39, t40, t41, dw_link3_y, t43
    real(dp) :: t44, t45, t46, t47, w_link4_x, t49, t50, w_link4_z, t52, w_link5_x, t54, t55, dw_link6_z, t57, t58, &
        t59, t60, t61, t62, t63, t64, t65, t66, t67, t68, t69, dw_link5_x, t71, t72, t73, t74, t75, t76, t77, &
        dw_link4_y, dw_link5_z, t80, t81, t82, w_link5_z, t84, w_link6_y, t86, dw_link6_x, w_link6_z, t89, t90, t91, &
        t92, t93
    real(dp) :: t94, t95, t96, t97, w_link6_x, t99, dw_link6_y, t101, t102, t103, t104, t105, t106, t107, t108, t109, &
        t110, t111, t112, t113, t114, t115, t116, t117, t118, t119, t120, t121, t122, t123, t124, t125, a_link2_y, &
        t127, t128, a_link3_x, t130, t131, t132, t133, t134, t135, t136, t137, t138, t139, t140, t141, t142, t143
    real(dp) :: t144, t145, t146, t147, t148, t149, t150, t151, t152, t153, t154, t155, t156, t157, a_link4_x, t159, &
        t160, t161, a_link3_y, t163, t164, t165, t166, t167, t168, t169, t170, a_link5_x, t172, t173, t174, t175, &
        t176, t177, t178, t179, t180, t181, t182, t183, t184, t185, t186, t187, t188, t189, t190, t191, t192, t193
    real(dp) :: t194, t195, t196, t197, dw_link5_y, t199, t200, t201, t202, t203, t204, t205, dw_link4_z, t207, t208, &
        t209, t210, t211, t212, t213, t214, t215, t216, t217, t218, t219, t220, t221, t222, t223, t224, t225, t226, &
        t227, t228, t229, t230, t231, t232, t233, t234, t235, t236, t237, t238, t239, t240, t241, t242, t243
    real(dp) :: t244, t245, t246, t247, t248, t249, t250, t251, t252, t253, t254, t255, t256, t257, t258, t259, t260, &
        t261, t262, t263, t264, t265, t266, t267, t268, t269, t270, t271, t272, t273, t274, t275, t276, t277, t278, &
        t279, t280, t281, t282, t283, t284, t285, t286, t287, t288, t289, t290, t291, t292, t293
    real(dp) :: t294, t295, t296, t297, t298, t299, t300, t301, t302, t303, t304, t305, t306, t307, t308, t309, t310, &
        t311, t312, t313, t314, t315, t316, t317, t318, t319, t320, t321, t322, t323, t324, t325, t326, t327, t328, &
        t329, t330, t331, t332, t333, t334, t335, t336, t337, t338, t339, t340, t341, t342, t343
    real(dp) :: t344, t345, t346, t347, t348, t349, t350, t351, t352, t353, t354, t355, t356, t357, t358, t359, t360, &
        t361, t362, t363, t364, t365, t366, t367, t368, t369, t370, t371, t372, t373, t374, t375, t376, t377, t378, &
        t379, t380, t381, t382, t383, t384, t385, t386, t387, t388, t389, t390, t391, t392, t393
    real(dp) :: t394, t395, t396, t397, t398
    q2 = q(2)
    q1_dot = v(1)
    q2_dot = v(2)
    q1_ddot = vdot(1)
    q3 = q(3)
    q3_dot = v(3)
    q4 = q(4)
    q2_ddot = vdot(2)
    q3_ddot = vdot(3)
    q4_dot = v(4)
    q5 = q(5)
    q4_ddot = vdot(4)
    q5_dot = v(5)
    q6_ddot = vdot(6)
    q6 = q(6)
    goal6 = prepared(37)
    k6 = prepared(38)
    c6 = prepared(36)
    q6_dot = v(6)
    q5_ddot = vdot(5)
    d3 = prepared(7)
    a2 = prepared(6)
    d2 = prepared(4)
    g = prepared(11)
    d4 = prepared(12)
    a3 = prepared(13)
    goal5 = prepared(34)
    k5 = prepared(35)
    c5 = prepared(33)
    goal4 = prepared(31)
    k4 = prepared(32)
    c4 = prepared(30)
    prepared_7 = prepared(8)
    prepared_14 = prepared(15)
    prepared_20 = prepared(21)
    prepared_19 = prepared(20)
    prepared_9 = prepared(10)
    goal3 = prepared(28)
    k3 = prepared(29)
    c3 = prepared(27)
    prepared_21 = prepared(22)
    prepared_22 = prepared(23)
    prepared_1 = prepared(2)
    prepared_4 = prepared(5)
    goal2 = prepared(25)
    k2 = prepared(26)
    c2 = prepared(24)
    prepared_13 = prepared(14)
    prepared_8 = prepared(9)
    prepared_2 = prepared(3)
    prepared_15 = prepared(16)
    prepared_0 = prepared(1)
    q1 = q(1)
    goal1 = prepared(18)
    k1 = prepared(19)
    c1 = prepared(17)
    t0 = sin(q2)
    t1 = cos(q2)
    t2 = q1_dot * t0
    t3 = t2 * q2_dot
    t4 = q1_ddot * t1
    dw_link2_y = t3 - t4
    t6 = sin(q3)
    t7 = cos(q3)
    t8 = dw_link2_y * t6
    t9 = q1_dot * t1
    t10 = t9 * q2_dot
    t11 = q1_ddot * t0
    t12 = t10 + t11
    t13 = t12 * t7
    t14 = t8 - t13
    t15 = t2 * t6
    t16 = t9 * t7
    w_link3_y = t15 - t16
    t18 = w_link3_y * q3_dot
    dw_link3_x = t18 + t14
    t20 = cos(q4)
    t21 = sin(q4)
    t22 = dw_link3_x * t20
    dw_link3_z = q2_ddot + q3_ddot
    t24 = dw_link3_z * t21
    t25 = t22 + t24
    t26 = t2 * t7
    t27 = t9 * t6
    t28 = t26 + t27
    t29 = t28 * t21
    w_link3_z = q2_dot + q3_dot
    t31 = w_link3_z * t20
    w_link4_y = t29 + t31
    t33 = w_link4_y * q4_dot
    dw_link4_x = t33 + t25
    t35 = sin(q5)
    t36 = cos(q5)
    t37 = dw_link4_x * t35
    t38 = t12 * t6
    t39 = dw_link2_y * t7
    t40 = t38 + t39
    t41 = t28 * q3_dot
    dw_link3_y = t40 + t41
    t43 = dw_link3_y - q4_ddot
    t44 = t43 * t36
    t45 = t44 - t37
    t46 = t28 * t20
    t47 = w_link3_z * t21
    w_link4_x = t47 - t46
    t49 = w_link4_x * t36
    t50 = t16 - t15
    w_link4_z = t50 + q4_dot
    t52 = w_link4_z * t35
    w_link5_x = t49 - t52
    t54 = w_link5_x * q5_dot
    t55 = t54 - t45
    dw_link6_z = t55 + q6_ddot
    t57 = 3.9999999999999996e-05_dp * dw_link6_z
    t58 = q6 - goal6
    t59 = k6 * t58
    t60 = c6 * q6_dot
    t61 = t60 + t59
    t62 = t61 + t57
    t63 = dw_link4_x * t36
    t64 = t43 * t35
    t65 = t64 + t63
    t66 = w_link4_x * t35
    t67 = w_link4_z * t36
    t68 = t67 + t66
    t69 = t68 * q5_dot
    dw_link5_x = t65 - t69
    t71 = cos(q6)
    t72 = sin(q6)
    t73 = dw_link5_x * t71
    t74 = dw_link3_x * t21
    t75 = dw_link3_z * t20
    t76 = t75 - t74
    t77 = w_link4_x * q4_dot
    dw_link4_y = t76 - t77
    dw_link5_z = dw_link4_y + q5_ddot
    t80 = dw_link5_z * t72
    t81 = t73 + t80
    t82 = w_link5_x * t72
    w_link5_z = w_link4_y + q5_dot
    t84 = w_link5_z * t71
    w_link6_y = t84 - t82
    t86 = w_link6_y * q6_dot
    dw_link6_x = t86 + t81
    w_link6_z = t68 + q6_dot
    t89 = w_link6_y * w_link6_z
    t90 = dw_link6_x + t89
    t91 = 1.9999999999999998e-05_dp * t90
    t92 = t91 * t72
    t93 = dw_link5_x * t72
    t94 = dw_link5_z * t71
    t95 = t94 - t93
    t96 = w_link5_x * t71
    t97 = w_link5_z * t72
    w_link6_x = t97 + t96
    t99 = w_link6_x * q6_dot
    dw_link6_y = t95 - t99
    t101 = w_link6_z * w_link6_x
    t102 = t101 - dw_link6_y
    t103 = 1.9999999999999998e-05_dp * t102
    t104 = t103 * t71
    t105 = t92 - t104
    t106 = dw_link2_y - t3
    t107 = d3 * t106
    t108 = t9 * t9
    t109 = q2_dot * q2_dot
    t110 = t108 + t109
    t111 = a2 * t110
    t112 = t107 - t111
    t113 = d2 * q1_ddot
    t114 = t113 * t1
    t115 = g * t0
    t116 = t114 + t115
    t117 = t112 - t116
    t118 = t117 * t7
    t119 = t9 * t2
    t120 = t119 + q2_ddot
    t121 = a2 * t120
    t122 = d3 * t11
    t123 = t121 + t122
    t124 = t113 * t0
    t125 = g * t1
    a_link2_y = t124 - t125
    t127 = t123 + a_link2_y
    t128 = t127 * t6
    a_link3_x = t128 + t118
    t130 = t28 * w_link3_y
    t131 = t130 + dw_link3_z
    t132 = d4 * t131
    t133 = w_link3_y * w_link3_y
    t134 = w_link3_z * w_link3_z
    t135 = t133 + t134
    t136 = a3 * t135
    t137 = t132 - t136
    t138 = a_link3_x + t137
    t139 = t138 * t20
    t140 = t28 * w_link3_z
    t141 = t140 + dw_link3_y
    t142 = a3 * t141
    t143 = w_link3_y * w_link3_z
    t144 = t143 + dw_link3_x
    t145 = d4 * t144
    t146 = t142 + t145
    t147 = dw_link2_y + t3
    t148 = a2 * t147
    t149 = t2 * t2
    t150 = t108 + t149
    t151 = d3 * t150
    t152 = t148 + t151
    t153 = q1_dot * q1_dot
    t154 = d2 * t153
    t155 = t152 + t154
    t156 = t155 + t146
    t157 = t156 * t21
    a_link4_x = t139 - t157
    t159 = a_link4_x * t36
    t160 = t117 * t6
    t161 = t127 * t7
    a_link3_y = t161 - t160
    t163 = dw_link3_z - t130
    t164 = a3 * t163
    t165 = t28 * t28
    t166 = t165 + t134
    t167 = d4 * t166
    t168 = t164 + t167
    t169 = a_link3_y + t168
    t170 = t169 * t35
    a_link5_x = t170 + t159
    t172 = 0.0028799999999999997_dp * a_link5_x
    t173 = 0.0006221600000000001_dp * dw_link5_z
    t174 = t68 * w_link5_x
    t175 = 0.00022216000000000005_dp * t174
    t176 = t175 + t173
    t177 = t172 + t176
    t178 = t177 + t105
    t179 = q5 - goal5
    t180 = k5 * t179
    t181 = c5 * q5_dot
    t182 = t181 + t180
    t183 = t178 + t182
    t184 = t103 * t72
    t185 = t91 * t71
    t186 = t184 + t185
    t187 = 0.0004221600000000001_dp * dw_link5_x
    t188 = w_link5_z * t68
    t189 = 0.00042216000000000004_dp * t188
    t190 = t187 - t189
    t191 = t138 * t21
    t192 = t156 * t20
    t193 = t191 + t192
    t194 = 0.0028799999999999997_dp * t193
    t195 = t194 + t190
    t196 = t195 + t186
    t197 = t196 * t35
    dw_link5_y = t45 - t54
    t199 = 0.00020000000000000004_dp * dw_link5_y
    t200 = w_link5_z * w_link5_x
    t201 = 0.00019999999999999998_dp * t200
    t202 = t199 - t201
    t203 = t202 - t57
    t204 = t203 * t36
    t205 = t197 + t204
    dw_link4_z = q4_ddot - dw_link3_y
    t207 = 0.0013999999999999993_dp * dw_link4_z
    t208 = w_link4_y * w_link4_x
    t209 = 9.999999999999983e-05_dp * t208
    t210 = t207 - t209
    t211 = t210 - t205
    t212 = q4 - goal4
    t213 = k4 * t212
    t214 = c4 * q4_dot
    t215 = t214 + t213
    t216 = t215 + t211
    t217 = t196 * t36
    t218 = t203 * t35
    t219 = t217 - t218
    t220 = w_link4_z * w_link4_y
    t221 = t220 + dw_link4_x
    t222 = 0.0007499999999999996_dp * t221
    t223 = t219 + t222
    t224 = t223 * t21
    t225 = w_link4_z * w_link4_x
    t226 = t225 - dw_link4_y
    t227 = 0.0006499999999999998_dp * t226
    t228 = t178 - t227
    t229 = t228 * t20
    t230 = t229 + t224
    t231 = t174 + dw_link5_z
    t232 = 0.0028799999999999997_dp * t231
    t233 = t232 * t36
    t234 = w_link5_x * w_link5_x
    t235 = w_link5_z * w_link5_z
    t236 = t235 + t234
    t237 = 0.0028799999999999997_dp * t236
    t238 = t237 * t35
    t239 = t233 - t238
    t240 = t239 * t20
    t241 = dw_link5_x - t188
    t242 = 0.0028799999999999997_dp * t241
    t243 = t242 * t21
    t244 = t240 + t243
    t245 = d4 * t244
    t246 = t232 * t35
    t247 = t237 * t36
    t248 = t246 + t247
    t249 = a3 * t248
    t250 = t249 + t245
    t251 = t230 + t250
    t252 = a_link3_y * prepared_7
    t253 = a_link3_x * prepared_14
    t254 = t252 - t253
    t255 = dw_link3_y - t140
    t256 = 0.004704000000000001_dp * t255
    t257 = prepared_20 * t130
    t258 = prepared_19 * dw_link3_z
    t259 = t258 - t257
    t260 = t259 + t256
    t261 = t165 - t133
    t262 = prepared_9 * t261
    t263 = t260 + t262
    t264 = t254 + t263
    t265 = t251 + t264
    t266 = q3 - goal3
    t267 = k3 * t266
    t268 = c3 * q3_dot
    t269 = t268 + t267
    t270 = t265 + t269
    t271 = prepared_7 * t135
    t272 = prepared_14 * t131
    t273 = t271 + t272
    t274 = t244 - t273
    t275 = t274 * t6
    t276 = prepared_7 * t163
    t277 = prepared_14 * t166
    t278 = t276 - t277
    t279 = t278 + t248
    t280 = t279 * t7
    t281 = t280 + t275
    t282 = a2 * t281
    t283 = t265 + t282
    t284 = 0.0016703999999999998_dp * t106
    t285 = prepared_21 * t119
    t286 = prepared_22 * q2_ddot
    t287 = t285 + t286
    t288 = t287 + t284
    t289 = prepared_1 * t11
    t290 = t288 - t289
    t291 = t149 - t108
    t292 = 0.0070992_dp * t291
    t293 = t290 - t292
    t294 = prepared_4 * a_link2_y
    t295 = 0.10439999999999999_dp * t116
    t296 = t294 + t295
    t297 = t296 + t293
    t298 = t283 + t297
    t299 = q2 - goal2
    t300 = k2 * t299
    t301 = c2 * q2_dot
    t302 = t301 + t300
    t303 = t298 + t302
    t304 = t223 * t20
    t305 = t228 * t21
    t306 = t304 - t305
    t307 = t239 * t21
    t308 = t242 * t20
    t309 = t307 - t308
    t310 = d4 * t309
    t311 = t306 - t310
    t312 = prepared_9 * t141
    t313 = prepared_13 * t144
    t314 = t312 + t313
    t315 = t133 - t134
    t316 = 0.004704000000000001_dp * t315
    t317 = t314 + t316
    t318 = t155 * prepared_14
    t319 = t317 - t318
    t320 = t311 + t319
    t321 = t320 * t6
    t322 = t205 - t210
    t323 = a3 * t309
    t324 = t322 - t323
    t325 = prepared_8 * t141
    t326 = prepared_9 * t144
    t327 = t325 + t326
    t328 = 0.004704000000000001_dp * t131
    t329 = t327 + t328
    t330 = t155 * prepared_7
    t331 = t330 + t329
    t332 = t331 + t324
    t333 = t332 * t7
    t334 = t333 + t321
    t335 = t274 * t7
    t336 = t279 * t6
    t337 = t335 - t336
    t338 = d3 * t337
    t339 = prepared_14 * t144
    t340 = prepared_7 * t141
    t341 = t339 - t340
    t342 = t341 + t309
    t343 = a2 * t342
    t344 = t338 - t343
    t345 = t334 + t344
    t346 = prepared_2 * t147
    t347 = t12 + t10
    t348 = 0.0070992_dp * t347
    t349 = t346 + t348
    t350 = t119 - q2_ddot
    t351 = 0.0016703999999999998_dp * t350
    t352 = t349 - t351
    t353 = t109 - t149
    t354 = prepared_1 * t353
    t355 = t354 + t352
    t356 = prepared_4 * t154
    t357 = t355 + t356
    t358 = t357 + t345
    t359 = t358 * t1
    t360 = t320 * t7
    t361 = t332 * t6
    t362 = t360 - t361
    t363 = t281 * d3
    t364 = t362 - t363
    t365 = prepared_15 * t347
    t366 = prepared_1 * t120
    t367 = t366 - t365
    t368 = 0.0070992_dp * t147
    t369 = t367 - t368
    t370 = t108 - t109
    t371 = 0.0016703999999999998_dp * t370
    t372 = t369 + t371
    t373 = 0.10439999999999999_dp * t154
    t374 = t372 - t373
    t375 = t374 + t364
    t376 = t375 * t0
    t377 = t359 + t376
    t378 = 0.10439999999999999_dp * t350
    t379 = prepared_4 * t110
    t380 = t378 - t379
    t381 = t337 + t380
    t382 = t381 * t1
    t383 = prepared_4 * t120
    t384 = t149 + t109
    t385 = 0.10439999999999999_dp * t384
    t386 = t383 - t385
    t387 = t386 + t281
    t388 = t387 * t0
    t389 = t382 - t388
    t390 = d2 * t389
    t391 = t377 + t390
    t392 = prepared_0 * q1_ddot
    t393 = t392 - t391
    t394 = q1 - goal1
    t395 = k1 * t394
    t396 = c1 * q1_dot
    t397 = t396 + t395
    t398 = t393 + t397
    tau(1) = t398
    tau(2) = t303
    tau(3) = t270
    tau(4) = t216
    tau(5) = t183
    tau(6) = t62
  end subroutine inverse_dynamics
end module puma560
