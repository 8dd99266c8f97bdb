function [tau] = inverse_dynamics(q, v, vdot, p)
  % inverse_dynamics: 54 operations (36 multiplication, 14 addition, 4 trigonometric)
  % inputs: q (2), v (2), vdot (2), p (5)
  % outputs: tau (2)
  %
  % double_pendulum: inverse_dynamics, forward_dynamics, mass_matrix_by_q
  % orthogonal double pendulum
  % Written in MATLAB by torseur. SI units.
  %
  % q(1): q1 in rad, swing of the arm
  % q(2): q2 in rad, swing of the blade
  %
  % v(1): q1' in rad/s, rate of q1
  % v(2): q2' in rad/s, rate of q2
  %
  % vdot(1): q1'' in rad/s^2, rate of q1'
  % vdot(2): q2'' in rad/s^2, rate of q2'
  %
  % p(1): g = 9.81 m/s^2, gravity
  % p(2): m1 = 4 kg, mass of the arm, at the elbow
  % p(3): m2 = 2 kg, mass of the blade
  % p(4): r2 = 5 m, distance from shoulder to elbow
  % p(5): l2 = 2 m, distance from elbow to the blade's mass centre
  %
  % tau(1): tau.q1' in N*m, generalised force along q1'
  % tau(2): tau.q2' in N*m, generalised force along q2'
  lanes = max([1, size(q, 2), size(v, 2), size(vdot, 2), size(p, 2)]);
  q1 = q(1, :);
  g = p(1, :);
  q1_ddot = vdot(1, :);
  r2 = p(4, :);
  q2 = q(2, :);
  l2 = p(5, :);
  m2 = p(3, :);
  q1_dot = v(1, :);
  q2_ddot = vdot(2, :);
  q2_dot = v(2, :);
  m1 = p(2, :);
  t0 = sin(q1);
  t1 = cos(q1);
  a_arm_x = g .* t0;
  t3 = q1_ddot .* r2;
  t4 = a_arm_x + t3;
  t5 = sin(q2);
  t6 = cos(q2);
  t7 = t4 .* t5;
  t8 = l2 .* m2;
  t9 = t7 .* t8;
  w_blade_y = q1_dot .* t6;
  w_blade_x = q1_dot .* t5;
  t12 = w_blade_y .* w_blade_x;
  t13 = t12 + q2_ddot;
  t14 = l2 .* l2;
  t15 = t14 .* m2;
  t16 = t15 .* t13;
  t17 = t9 + t16;
  t18 = w_blade_y .* w_blade_y;
  t19 = q2_dot .* q2_dot;
  t20 = t18 + t19;
  t21 = t8 .* t20;
  t22 = t21 .* t6;
  t23 = t8 .* t13;
  t24 = t23 .* t5;
  t25 = t22 + t24;
  t26 = t25 .* r2;
  t27 = w_blade_x .* q2_dot;
  t28 = q1_ddot .* t6;
  dw_blade_y = t28 - t27;
  t30 = t27 - dw_blade_y;
  t31 = t15 .* t30;
  a_arm_y = g .* t1;
  t33 = q1_dot .* q1_dot;
  t34 = t33 .* r2;
  t35 = a_arm_y + t34;
  t36 = t35 .* t8;
  t37 = t36 + t31;
  t38 = t37 .* t6;
  t39 = t26 - t38;
  t40 = 0.5 .* m2;
  t41 = t40 .* r2;
  t42 = 2.0 .* r2;
  t43 = t41 .* t42;
  t44 = r2 .* r2;
  t45 = m1 .* t44;
  t46 = t45 + t43;
  t47 = t46 .* q1_ddot;
  t48 = m1 .* r2;
  t49 = m2 .* r2;
  t50 = t48 + t49;
  t51 = a_arm_x .* t50;
  t52 = t51 + t47;
  t53 = t52 + t39;
  tau = zeros(2, lanes);
  tau(1, :) = t53;
  tau(2, :) = t17;
end

