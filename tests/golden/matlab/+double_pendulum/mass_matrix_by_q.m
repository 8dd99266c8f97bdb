function [dmass_matrix_dq] = mass_matrix_by_q(q, p)
  % mass_matrix_by_q: 13 operations (9 multiplication, 2 trigonometric, 1 addition, 1 negation)
  % inputs: q (2), p (5)
  % outputs: dmass_matrix_dq (2 x 2 x 2)
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
  lanes = max([1, size(q, 2), size(p, 2)]);
  l2 = p(5, :);
  m2 = p(3, :);
  q2 = q(2, :);
  r2 = p(4, :);
  t0 = l2 .* m2;
  t1 = cos(q2);
  t2 = sin(q2);
  t3 = t0 .* t1;
  t4 = t3 .* r2;
  t5 = l2 .* l2;
  t6 = t5 .* m2;
  t7 = t6 .* t2;
  t8 = t7 .* t1;
  t9 = t6 .* t1;
  t10 = t9 .* t2;
  t11 = t8 + t10;
  t12 = -t11;
  dmass_matrix_dq = zeros(2, 2, 2, lanes);
  dmass_matrix_dq(1, 1, 2, :) = t12;
  dmass_matrix_dq(1, 2, 2, :) = t4;
  dmass_matrix_dq(2, 1, 2, :) = t4;
end

