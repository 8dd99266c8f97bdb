function [vdot] = forward_dynamics(q, v, tau, p)
  % forward_dynamics: 66 operations (44 multiplication, 16 addition, 4 trigonometric, 2 division)
  % inputs: q (2), v (2), tau (2), p (5)
  % outputs: vdot (2)
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
  lanes = max([1, size(q, 2), size(v, 2), size(tau, 2), size(p, 2)]);
  q2 = q(2, :);
  q1_dot = v(1, :);
  q2_dot = v(2, :);
  l2 = p(5, :);
  m2 = p(3, :);
  r2 = p(4, :);
  q1 = q(1, :);
  g = p(1, :);
  m1 = p(2, :);
  tau_q1_dot = tau(1, :);
  tau_q2_dot = tau(2, :);
  t0 = cos(q2);
  t1 = sin(q2);
  w_blade_y = q1_dot .* t0;
  t3 = w_blade_y .* w_blade_y;
  t4 = q2_dot .* q2_dot;
  t5 = t3 + t4;
  t6 = l2 .* m2;
  t7 = t6 .* t5;
  t8 = t7 .* t0;
  w_blade_x = q1_dot .* t1;
  t10 = w_blade_y .* w_blade_x;
  t11 = t6 .* t10;
  t12 = t11 .* t1;
  t13 = t8 + t12;
  t14 = t13 .* r2;
  t15 = w_blade_x .* q2_dot;
  t16 = 2.0 .* t15;
  t17 = l2 .* l2;
  t18 = t17 .* m2;
  t19 = t18 .* t16;
  t20 = cos(q1);
  t21 = sin(q1);
  a_arm_y = g .* t20;
  t23 = q1_dot .* q1_dot;
  t24 = t23 .* r2;
  t25 = a_arm_y + t24;
  t26 = t25 .* t6;
  t27 = t26 + t19;
  t28 = t27 .* t0;
  t29 = t14 - t28;
  a_arm_x = g .* t21;
  t31 = m1 .* r2;
  t32 = m2 .* r2;
  t33 = t31 + t32;
  t34 = a_arm_x .* t33;
  t35 = t34 + t29;
  t36 = tau_q1_dot - t35;
  t37 = a_arm_x .* t1;
  t38 = t37 .* t6;
  t39 = t18 .* t10;
  t40 = t38 + t39;
  t41 = tau_q2_dot - t40;
  t42 = 1.0 ./ t18;
  t43 = t6 .* t1;
  t44 = t43 .* r2;
  t45 = t42 .* t44;
  t46 = t45 .* t41;
  t47 = t36 - t46;
  t48 = t18 .* t1;
  t49 = t48 .* t1;
  t50 = t18 - t49;
  t51 = 0.5 .* m2;
  t52 = t51 .* r2;
  t53 = 2.0 .* r2;
  t54 = t52 .* t53;
  t55 = r2 .* r2;
  t56 = m1 .* t55;
  t57 = t56 + t54;
  t58 = t50 + t57;
  t59 = t44 .* t45;
  t60 = t58 - t59;
  t61 = 1.0 ./ t60;
  t62 = t61 .* t47;
  t63 = t62 .* t45;
  t64 = t42 .* t41;
  t65 = t64 - t63;
  vdot = zeros(2, lanes);
  vdot(1, :) = t62;
  vdot(2, :) = t65;
end

