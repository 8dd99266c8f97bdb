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
function p = parameters()
  p = [9.81; 4.0; 2.0; 5.0; 2.0];
end
