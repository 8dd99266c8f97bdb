# Functions of a mechanism.
#
# double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q
# orthogonal double pendulum
# Written in Python (NumPy) by torseur. SI units.
#
# q[0]: q1 in rad, swing of the arm
# q[1]: q2 in rad, swing of the blade
#
# v[0]: q1' in rad/s, rate of q1
# v[1]: q2' in rad/s, rate of q2
#
# vdot[0]: q1'' in rad/s^2, rate of q1'
# vdot[1]: q2'' in rad/s^2, rate of q2'
#
# p[0]: g = 9.81 m/s^2, gravity
# p[1]: m1 = 4 kg, mass of the arm, at the elbow
# p[2]: m2 = 2 kg, mass of the blade
# p[3]: r2 = 5 m, distance from shoulder to elbow
# p[4]: l2 = 2 m, distance from elbow to the blade's mass centre
#
# tau[0]: tau.q1' in N*m, generalised force along q1'
# tau[1]: tau.q2' in N*m, generalised force along q2'

from numpy import (  # noqa: F401
    sin, cos, tan, arcsin, arccos, arctan, arctan2, sinh, cosh, tanh, exp, log, sqrt, abs, sign, minimum, maximum, floor, where, array, broadcast_arrays, clip, searchsorted, stack, zeros,
)

parameters = (9.81, 4.0, 2.0, 5.0, 2.0,)

def packed(shape, *entries):
    """The entries, numbers or lanes, in the shape of a result."""
    if not entries:
        return zeros(shape)
    flat = stack(broadcast_arrays(*entries))
    return flat.reshape(*shape, *flat.shape[1:])


def inverse_dynamics(q, v, vdot, p):
    # inverse_dynamics: 54 operations (36 multiplication, 14 addition, 4 trigonometric)
    # inputs: q (2), v (2), vdot (2), p (5)
    # outputs: tau (2)
    q1 = q[0]
    g = p[0]
    q1_ddot = vdot[0]
    r2 = p[3]
    q2 = q[1]
    l2 = p[4]
    m2 = p[2]
    q1_dot = v[0]
    q2_ddot = vdot[1]
    q2_dot = v[1]
    m1 = p[1]
    t0 = sin(q1)
    t1 = cos(q1)
    a_arm_x = g * t0
    t3 = q1_ddot * r2
    t4 = a_arm_x + t3
    t5 = sin(q2)
    t6 = cos(q2)
    t7 = t4 * t5
    t8 = l2 * m2
    t9 = t7 * t8
    w_blade_y = q1_dot * t6
    w_blade_x = q1_dot * t5
    t12 = w_blade_y * w_blade_x
    t13 = t12 + q2_ddot
    t14 = l2 * l2
    t15 = t14 * m2
    t16 = t15 * t13
    t17 = t9 + t16
    t18 = w_blade_y * w_blade_y
    t19 = q2_dot * q2_dot
    t20 = t18 + t19
    t21 = t8 * t20
    t22 = t21 * t6
    t23 = t8 * t13
    t24 = t23 * t5
    t25 = t22 + t24
    t26 = t25 * r2
    t27 = w_blade_x * q2_dot
    t28 = q1_ddot * t6
    dw_blade_y = t28 - t27
    t30 = t27 - dw_blade_y
    t31 = t15 * t30
    a_arm_y = g * t1
    t33 = q1_dot * q1_dot
    t34 = t33 * r2
    t35 = a_arm_y + t34
    t36 = t35 * t8
    t37 = t36 + t31
    t38 = t37 * t6
    t39 = t26 - t38
    t40 = 0.5 * m2
    t41 = t40 * r2
    t42 = 2.0 * r2
    t43 = t41 * t42
    t44 = r2 * r2
    t45 = m1 * t44
    t46 = t45 + t43
    t47 = t46 * q1_ddot
    t48 = m1 * r2
    t49 = m2 * r2
    t50 = t48 + t49
    t51 = a_arm_x * t50
    t52 = t51 + t47
    t53 = t52 + t39
    return packed((2,), t53, t17)


def forward_dynamics(q, v, tau, p):
    # forward_dynamics: 66 operations (44 multiplication, 16 addition, 4 trigonometric, 2 division)
    # inputs: q (2), v (2), tau (2), p (5)
    # outputs: vdot (2)
    q2 = q[1]
    q1_dot = v[0]
    q2_dot = v[1]
    l2 = p[4]
    m2 = p[2]
    r2 = p[3]
    q1 = q[0]
    g = p[0]
    m1 = p[1]
    tau_q1_dot = tau[0]
    tau_q2_dot = tau[1]
    t0 = cos(q2)
    t1 = sin(q2)
    w_blade_y = q1_dot * t0
    t3 = w_blade_y * w_blade_y
    t4 = q2_dot * q2_dot
    t5 = t3 + t4
    t6 = l2 * m2
    t7 = t6 * t5
    t8 = t7 * t0
    w_blade_x = q1_dot * t1
    t10 = w_blade_y * w_blade_x
    t11 = t6 * t10
    t12 = t11 * t1
    t13 = t8 + t12
    t14 = t13 * r2
    t15 = w_blade_x * q2_dot
    t16 = 2.0 * t15
    t17 = l2 * l2
    t18 = t17 * m2
    t19 = t18 * t16
    t20 = cos(q1)
    t21 = sin(q1)
    a_arm_y = g * t20
    t23 = q1_dot * q1_dot
    t24 = t23 * r2
    t25 = a_arm_y + t24
    t26 = t25 * t6
    t27 = t26 + t19
    t28 = t27 * t0
    t29 = t14 - t28
    a_arm_x = g * t21
    t31 = m1 * r2
    t32 = m2 * r2
    t33 = t31 + t32
    t34 = a_arm_x * t33
    t35 = t34 + t29
    t36 = tau_q1_dot - t35
    t37 = a_arm_x * t1
    t38 = t37 * t6
    t39 = t18 * t10
    t40 = t38 + t39
    t41 = tau_q2_dot - t40
    t42 = 1.0 / t18
    t43 = t6 * t1
    t44 = t43 * r2
    t45 = t42 * t44
    t46 = t45 * t41
    t47 = t36 - t46
    t48 = t18 * t1
    t49 = t48 * t1
    t50 = t18 - t49
    t51 = 0.5 * m2
    t52 = t51 * r2
    t53 = 2.0 * r2
    t54 = t52 * t53
    t55 = r2 * r2
    t56 = m1 * t55
    t57 = t56 + t54
    t58 = t50 + t57
    t59 = t44 * t45
    t60 = t58 - t59
    t61 = 1.0 / t60
    t62 = t61 * t47
    t63 = t62 * t45
    t64 = t42 * t41
    t65 = t64 - t63
    return packed((2,), t62, t65)


def mass_matrix_by_q(q, p):
    # mass_matrix_by_q: 13 operations (9 multiplication, 2 trigonometric, 1 addition, 1 negation)
    # inputs: q (2), p (5)
    # outputs: dmass_matrix_dq (2 x 2 x 2)
    l2 = p[4]
    m2 = p[2]
    q2 = q[1]
    r2 = p[3]
    t0 = l2 * m2
    t1 = cos(q2)
    t2 = sin(q2)
    t3 = t0 * t1
    t4 = t3 * r2
    t5 = l2 * l2
    t6 = t5 * m2
    t7 = t6 * t2
    t8 = t7 * t1
    t9 = t6 * t1
    t10 = t9 * t2
    t11 = t8 + t10
    t12 = -t11
    return packed((2, 2, 2), 0.0, t12, 0.0, t4, 0.0, t4, 0.0, 0.0)

