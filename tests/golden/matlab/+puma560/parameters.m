% puma560: inverse_dynamics
% Puma 560 arm, six revolute joints
% Written in MATLAB by torseur. SI units.
%
% q(1): q1 in rad
% q(2): q2 in rad
% q(3): q3 in rad
% q(4): q4 in rad
% q(5): q5 in rad
% q(6): q6 in rad
%
% v(1): q1' in rad/s, rate of q1
% v(2): q2' in rad/s, rate of q2
% v(3): q3' in rad/s, rate of q3
% v(4): q4' in rad/s, rate of q4
% v(5): q5' in rad/s, rate of q5
% v(6): q6' in rad/s, rate of q6
%
% vdot(1): q1'' in rad/s^2, rate of q1'
% vdot(2): q2'' in rad/s^2, rate of q2'
% vdot(3): q3'' in rad/s^2, rate of q3'
% vdot(4): q4'' in rad/s^2, rate of q4'
% vdot(5): q5'' in rad/s^2, rate of q5'
% vdot(6): q6'' in rad/s^2, rate of q6'
%
% p(1): g = 9.81 m/s^2, gravity
% p(2): a2 = 0.4318 m, length of the upper arm
% p(3): a3 = -0.0203 m, offset of the elbow
% p(4): d2 = 0.2435 m, offset of the shoulder
% p(5): d3 = -0.0934 m, offset of the forearm
% p(6): d4 = 0.4331 m, length of the forearm
% p(7): goal1 = 1.04719755 rad, goal of the waist
% p(8): goal2 = -1.04719755 rad, goal of the shoulder
% p(9): goal3 = 2.61799388 rad, goal of the elbow
% p(10): goal4 = 0.698131701 rad, goal of the forearm
% p(11): goal5 = 1.04719755 rad, goal of the wrist
% p(12): goal6 = 1.57079633 rad, goal of the hand
% p(13): k1 = 60 N*m, stiffness of servo 1
% p(14): k2 = 300 N*m, stiffness of servo 2
% p(15): k3 = 80 N*m, stiffness of servo 3
% p(16): k4 = 0.8 N*m, stiffness of servo 4
% p(17): k5 = 0.8 N*m, stiffness of servo 5
% p(18): k6 = 0.004 N*m, stiffness of servo 6
% p(19): c1 = 30 N*m*s, damping of servo 1
% p(20): c2 = 80 N*m*s, damping of servo 2
% p(21): c3 = 20 N*m*s, damping of servo 3
% p(22): c4 = 0.15 N*m*s, damping of servo 4
% p(23): c5 = 0.15 N*m*s, damping of servo 5
% p(24): c6 = 0.001 N*m*s, damping of servo 6
function p = parameters()
  p = [9.81; 0.4318; (-0.0203); 0.2435; (-0.0934); 0.4331; 1.0471975511965976; (-1.0471975511965976); 2.6179938779914944; 0.6981317007977318; 1.0471975511965976; 1.5707963267948966; 60.0; 300.0; 80.0; 0.8; 0.8; 0.004; 30.0; 80.0; 20.0; 0.15; 0.15; 0.001];
end
