"""Systems of courses on dynamics, robots and gyroscopes, each with its equations in the form of such courses.

Equations with multipliers have the sign M v' + b + Cᵀ λ = Q; the rows of the constraints and of their rates follow. A
common factor of an equation is free.
"""

from __future__ import annotations

COURSE_SYSTEMS: dict[str, tuple[str, list[str]]] = {
    "arm that turns, slides and turns": (
        """mechanism rpr ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, m3 = 1 kg, c1 = 0.3 m, c3 = 0.2 m, I1 = 0.1 kg*m^2, I2 = 0.1 kg*m^2, I3 = 0.1 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let a = body mass = m1, centre = [c1,0,0], inertia = diag(0,0,I1) end ;
        let b = body mass = m2, centre = 0, inertia = diag(0,0,I2) end ;
        let c = body mass = m3, centre = [c3,0,0], inertia = diag(0,0,I3) end ;
        join earth and a.frame as j1 with revolute(q1) torque = tau1(t) end ;
        join a.frame and b.frame as j2 with prismatic(d) along [1,0,0] force = F(t) end ;
        join b.frame and c.frame as j3 with revolute(q3) torque = tau3(t) end ;
        law tau1(t) in N*m ; law F(t) in N ; law tau3(t) in N*m ;
        init d = 1 m ;""",
        [
            "(I1 + I2 + m1*c1^2 + (m2+m3)*d^2)*q1'' + (I3 + m3*c3^2)*(q1''+q3'') + m3*c3*d*(2*q1''+q3'')*cos(q3) - m3*c3*d''*sin(q3) + 2*m3*c3*d'*q1'*cos(q3) - m3*c3*d*q3'*(2*q1'+q3')*sin(q3) + 2*(m2+m3)*d*d'*q1' + (m1*c1 + (m2+m3)*d)*g*cos(q1) + m3*g*c3*cos(q1+q3) - tau1(t)",
            "(m2+m3)*d'' - m3*c3*((q1''+q3'')*sin(q3) + (q1'+q3')^2*cos(q3)) - (m2+m3)*d*q1'^2 + (m2+m3)*g*sin(q1) - F(t)",
            "(I3 + m3*c3^2)*(q1''+q3'') + m3*c3*(d*q1''*cos(q3) - d''*sin(q3)) + 2*m3*c3*d'*q1'*cos(q3) + m3*c3*d*q1'^2*sin(q3) + m3*g*c3*cos(q1+q3) - tau3(t)",
        ],
    ),
    "rotor on a cart with a spring": (
        """mechanism tora ;
        param M = 1 kg, m = 0.1 kg, e = 0.05 m, J = 1e-3 kg*m^2, k = 10 N/m ;
        let cart = body mass = M, centre = 0, inertia = 0 end ;
        let rotor = body mass = m, centre = [0,-e,0], inertia = diag(0,0,J) end ;
        join earth and cart.frame as rail with prismatic(x) along [1,0,0] force = F(t) - k*x end ;
        join cart.frame and rotor.frame as pin with revolute(th) torque = tau(t) end ;
        law F(t) in N ; law tau(t) in N*m ;""",
        [
            "(M+m)*x'' + m*e*th''*cos(th) - m*e*th'^2*sin(th) + k*x - F(t)",
            "(J+m*e^2)*th'' + m*e*x''*cos(th) - tau(t)",
        ],
    ),
    "bead on a helix that turns freely": (
        """mechanism helix ;
        param g = 9.81 m/s^2, m = 1 kg, R = 1 m, h = 0.1 m, J = 1 kg*m^2 ;
        gravity = [0,0,-g] ;
        let spool = body mass = 0, inertia = diag(0,0,J) end ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and spool.frame as axle with revolute(phi) about [0,0,1] end ;
        join spool.frame and bead.frame as wire with link(th) dof1 = [R*cos(th), R*sin(th), h*th] end ;""",
        [
            "J*phi'' + m*R^2*(phi''+th'')",
            "R^2*(phi''+th'') + h^2*th'' + g*h",
        ],
    ),
    "bead on a turning parabola": (
        """mechanism tp ;
        param g = 9.81 m/s^2, m = 1 kg, a = 1 1/m, W = 3 rad/s ;
        gravity = [0,0,-g] ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bead.frame as wire with link(r) dof1 = W*t || [0,0,1], dof2 = [r, 0, a*r^2] end ;""",
        [
            "(1+4*a^2*r^2)*r'' + 4*a^2*r*r'^2 + (2*g*a - W^2)*r",
        ],
    ),
    "pendulum on the rim of a disc": (
        """mechanism rim ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, a = 0.3 m, W = 3 rad/s ;
        gravity = [0,-g,0] ;
        let bob = body mass = m, centre = [0,-l,0], inertia = 0 end ;
        join [a*cos(W*t), a*sin(W*t), 0] @ earth and bob.frame as rim with revolute(th) end ;""",
        [
            "l*th'' - a*W^2*cos(th - W*t) + g*sin(th)",
        ],
    ),
    "cylinder on a sliding wedge": (
        """mechanism cw ;
        param g = 9.81 m/s^2, M = 2 kg, m = 1 kg, R = 0.1 m, al = 30 deg ;
        gravity = [0,-g,0] ;
        let wedge = body mass = M, centre = 0, inertia = 0 end ;
        let cyl = body mass = m, centre = 0, inertia = diag(0,0,m*R^2/2) end ;
        join earth and wedge.frame as floor with prismatic(x) along [1,0,0] end ;
        join wedge.frame and cyl.frame as roll with link(s) dof1 = [s*cos(al), -s*sin(al), 0], dof2 = -s/R || [0,0,1] end ;""",
        [
            "(M+m)*x'' + m*s''*cos(al)",
            "3/2*s'' + x''*cos(al) - g*sin(al)",
        ],
    ),
    "elastic pendulum in space": (
        """mechanism sep ;
        param g = 9.81 m/s^2, m = 1 kg, k = 40 N/m, l0 = 1 m, c = 0.1 N*s/m ;
        gravity = [0,0,-g] ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bob.frame as s with link(phi, th, r) dof1 = phi || [0,0,1], dof2 = th || [0,-1,0], dof3 = [0,0,-r] stiffness(r) = k, rest(r) = l0, damping(r) = c end ;
        init r = 1 m, th = 0.3 rad ;""",
        [
            "m*r^2*phi''*sin(th)^2 + 2*m*r*r'*phi'*sin(th)^2 + 2*m*r^2*phi'*th'*sin(th)*cos(th)",
            "r*th'' + 2*r'*th' - r*phi'^2*sin(th)*cos(th) + g*sin(th)",
            "m*r'' - m*r*(th'^2 + phi'^2*sin(th)^2) + c*r' + k*(r-l0) - m*g*cos(th)",
        ],
    ),
    "crane in space": (
        """mechanism crane3 ;
        param g = 9.81 m/s^2, Mx = 2 kg, My = 1 kg, m = 1 kg, l = 1 m ;
        gravity = [0,0,-g] ;
        let bridge = body mass = Mx, centre = 0, inertia = 0 end ;
        let cart = body mass = My, centre = 0, inertia = 0 end ;
        let load = body mass = m, centre = [0,0,-l], inertia = 0 end ;
        join earth and bridge.frame as r1 with prismatic(x) along [1,0,0] force = F1(t) end ;
        join bridge.frame and cart.frame as r2 with prismatic(y) along [0,1,0] force = F2(t) end ;
        join cart.frame and load.frame as rope with universal(al, be) end ;
        law F1(t) in N ; law F2(t) in N ;""",
        [
            "(Mx+My+m)*x'' - m*l*be''*cos(be) + m*l*be'^2*sin(be) - F1(t)",
            "(My+m)*y'' + m*l*(al''*cos(al)*cos(be) - be''*sin(al)*sin(be)) - m*l*(al'^2 + be'^2)*sin(al)*cos(be) - 2*m*l*al'*be'*cos(al)*sin(be) - F2(t)",
            "(y''*cos(al) + l*al''*cos(be) - 2*l*al'*be'*sin(be) + g*sin(al))*cos(be)",
            "l*be'' - x''*cos(be) - y''*sin(al)*sin(be) + l*al'^2*sin(be)*cos(be) + g*cos(al)*sin(be)",
        ],
    ),
    "hopper on a spring": (
        """mechanism slip ;
        param g = 9.81 m/s^2, m = 1 kg, k = 1000 N/m, l0 = 1 m ;
        gravity = [0,-g,0] ;
        let hip = body mass = m, centre = 0, inertia = 0 end ;
        join earth and hip.frame as leg with link(th, r) dof1 = th || [0,0,-1], dof2 = [0,r,0] stiffness(r) = k, rest(r) = l0 end ;
        init r = 1 m ;""",
        [
            "r*th'' + 2*r'*th' - g*sin(th)",
            "m*r'' - m*r*th'^2 + k*(r-l0) + m*g*cos(th)",
        ],
    ),
    "arm with a flexible joint": (
        """mechanism flex ;
        param g = 9.81 m/s^2, I = 1 kg*m^2, J = 0.1 kg*m^2, m = 1 kg, l = 0.5 m, k = 100 N*m/rad ;
        gravity = [0,-g,0] ;
        let motor = body mass = 0, inertia = diag(0,0,J) end ;
        let arm = body mass = m, centre = [0,-l,0], inertia = diag(0,0,I) about frame end ;
        join earth and motor.frame as rotor with revolute(q2) torque = tau(t) - k*(q2-q1) end ;
        join earth and arm.frame as hub with revolute(q1) torque = -k*(q1-q2) end ;
        law tau(t) in N*m ;""",
        [
            "J*q2'' + k*(q2-q1) - tau(t)",
            "I*q1'' + k*(q1-q2) + m*g*l*sin(q1)",
        ],
    ),
    "dumbbell in the plane": (
        """mechanism dumbbell ;
        param mu = 4e14 m^3/s^2, m = 1 kg, l = 10 m ;
        let a = body mass = m, centre = 0, inertia = 0 end ;
        let b = body mass = m, centre = 0, inertia = 0 end ;
        join earth and a.frame as one with link(phi, r, th) dof1 = phi || [0,0,1], dof2 = [r,0,0], dof3 = th || [0,0,1], dof4 = [l,0,0] end ;
        join earth and b.frame as two with link() dof1 = phi || [0,0,1], dof2 = [r,0,0], dof3 = th || [0,0,1], dof4 = [-l,0,0] end ;
        init r = 7000 km ;""",
        [
            "m*(2*r^2*phi'' + 2*l^2*(phi''+th'') + 4*r*r'*phi')",
            "m*(r'' - r*phi'^2)",
            "m*l^2*(phi''+th'')",
        ],
    ),
    "two clocks on a beam": (
        """mechanism huygens ;
        param g = 9.81 m/s^2, M = 10 kg, m = 1 kg, l = 1 m, k = 1 N/m, c = 1 N*s/m ;
        gravity = [0,-g,0] ;
        let beam = body mass = M, centre = 0, inertia = 0 end ;
        let p = body mass = m, centre = [0,-l,0], inertia = 0 end ;
        let q = body mass = m, centre = [0,-l,0], inertia = 0 end ;
        join earth and beam.frame as rail with prismatic(x) along [1,0,0] stiffness = k, damping = c end ;
        join beam.frame and p.frame as j1 with revolute(a) end ;
        join beam.frame and q.frame as j2 with revolute(b) end ;""",
        [
            "(M+2*m)*x'' + m*l*a''*cos(a) + m*l*b''*cos(b) - m*l*a'^2*sin(a) - m*l*b'^2*sin(b) + c*x' + k*x",
            "l*a'' + x''*cos(a) + g*sin(a)",
            "l*b'' + x''*cos(b) + g*sin(b)",
        ],
    ),
    "double pendulum of rods": (
        """mechanism rods ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m ;
        gravity = [0,-g,0] ;
        let p = body mass = m, centre = [0,-l/2,0], inertia = diag(0,0,m*l^2/12) end ;
        let q = body mass = m, centre = [0,-l/2,0], inertia = diag(0,0,m*l^2/12) end ;
        join earth and p.frame as j1 with revolute(a) end ;
        join [0,-l,0] @ p and q.frame as j2 with link(b) dof1 = b - a || [0,0,1] end ;""",
        [
            "m*l*(4/3*l*a'' + l/2*b''*cos(a-b) + l/2*b'^2*sin(a-b) + 3/2*g*sin(a))",
            "m*l*(l/3*b'' + l/2*a''*cos(a-b) - l/2*a'^2*sin(a-b) + g/2*sin(b))",
        ],
    ),
    "SCARA": (
        """mechanism scara ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, m3 = 1 kg, l1 = 1 m, c1 = 0.5 m, l2 = 1 m, c2 = 0.5 m, I1 = 0.1 kg*m^2, I2 = 0.1 kg*m^2, I3 = 0.1 kg*m^2 ;
        gravity = [0,0,-g] ;
        let a = body mass = m1, centre = [c1,0,0], inertia = diag(0,0,I1) end ;
        let b = body mass = m2, centre = [c2,0,0], inertia = diag(0,0,I2) end ;
        let c = body mass = 0, inertia = 0 end ;
        let d = body mass = m3, centre = 0, inertia = diag(0,0,I3) end ;
        join earth and a.frame as j1 with revolute(q1) torque = tau1(t) end ;
        join [l1,0,0] @ a and b.frame as j2 with revolute(q2) torque = tau2(t) end ;
        join [l2,0,0] @ b and c.frame as j3 with prismatic(z) along [0,0,1] force = F(t) end ;
        join c.frame and d.frame as j4 with revolute(q4) torque = tau4(t) end ;
        law tau1(t) in N*m ; law tau2(t) in N*m ; law tau4(t) in N*m ; law F(t) in N ;""",
        [
            "(I1 + m1*c1^2 + (m2+m3)*l1^2)*q1'' + (I2 + m2*c2^2 + m3*l2^2)*(q1''+q2'') + I3*(q1''+q2''+q4'') + (m2*c2+m3*l2)*l1*(2*q1''+q2'')*cos(q2) - (m2*c2+m3*l2)*l1*q2'*(2*q1'+q2')*sin(q2) - tau1(t)",
            "(I2 + m2*c2^2 + m3*l2^2)*(q1''+q2'') + I3*(q1''+q2''+q4'') + (m2*c2+m3*l2)*l1*(q1''*cos(q2) + q1'^2*sin(q2)) - tau2(t)",
            "m3*(z''+g) - F(t)",
            "I3*(q1''+q2''+q4'') - tau4(t)",
        ],
    ),
    "spherical robot": (
        """mechanism stanford ;
        param g = 9.81 m/s^2, m2 = 1 kg, m3 = 1 kg, J1 = 1 kg*m^2, J2 = 0.1 kg*m^2, J3 = 0.2 kg*m^2 ;
        gravity = [0,0,-g] ;
        let base = body mass = 0, inertia = diag(0,0,J1) end ;
        let arm = body mass = m2, centre = 0, inertia = diag(0,J2,J2) end ;
        let slide = body mass = m3, centre = 0, inertia = diag(0,J3,J3) end ;
        join earth and base.frame as j1 with revolute(q1) about [0,0,1] end ;
        join base.frame and arm.frame as j2 with revolute(q2) about [0,-1,0] end ;
        join arm.frame and slide.frame as j3 with prismatic(r) along [1,0,0] end ;
        init r = 1 m ;""",
        [
            "J1*q1'' + (J2+J3+m3*r^2)*q1''*cos(q2)^2 - 2*(J2+J3+m3*r^2)*q1'*q2'*sin(q2)*cos(q2) + 2*m3*r*r'*q1'*cos(q2)^2",
            "(J2+J3+m3*r^2)*q2'' + 2*m3*r*r'*q2' + (J2+J3+m3*r^2)*q1'^2*sin(q2)*cos(q2) + m3*g*r*cos(q2)",
            "r'' - r*q2'^2 - r*q1'^2*cos(q2)^2 + g*sin(q2)",
        ],
    ),
    "roller racer": (
        """mechanism roller ;
        param m = 1 kg, J1 = 0.1 kg*m^2, J2 = 0.02 kg*m^2, a = 0.3 m, b = 0.1 m ;
        let body1 = body mass = m, centre = 0, inertia = diag(0,0,J1) end ;
        let body2 = body mass = 0, inertia = diag(0,0,J2) end ;
        join earth and body1.frame as ice with planar(x, y, th) end ;
        join [a,0,0] @ body1 and body2.frame as steer with revolute(phi) torque = tau(t) end ;
        law tau(t) in N*m ;
        constrain 0 = -x'*sin(th) + y'*cos(th) as rear ;
        constrain 0 = -x'*sin(th+phi) + y'*cos(th+phi) + a*th'*cos(phi) + b*(th'+phi') as front ;""",
        [
            "m*x'' - lambda_rear*sin(th) - lambda_front*sin(phi+th)",
            "m*y'' + lambda_rear*cos(th) + lambda_front*cos(phi+th)",
            "J1*th'' + J2*(th''+phi'') + lambda_front*(b + a*cos(phi))",
            "J2*(th''+phi'') + b*lambda_front - tau(t)",
            "y'*cos(th) - x'*sin(th)",
            "y'*cos(th+phi) - x'*sin(th+phi) + a*th'*cos(phi) + b*(th'+phi')",
        ],
    ),
    "knife edge on a slope": (
        """mechanism knife ;
        param g = 9.81 m/s^2, m = 1 kg, J = 0.1 kg*m^2, al = 30 deg ;
        gravity = [g*sin(al), 0, -g*cos(al)] ;
        let k = body mass = m, centre = 0, inertia = diag(0,0,J) end ;
        join earth and k.frame as ice with planar(x, y, phi) end ;
        constrain 0 = x'*sin(phi) - y'*cos(phi) as edge ;""",
        [
            "m*x'' - m*g*sin(al) + lambda_edge*sin(phi)",
            "m*y'' - lambda_edge*cos(phi)",
            "J*phi''",
            "x'*sin(phi) - y'*cos(phi)",
        ],
    ),
    "shot in air": (
        """mechanism shot ;
        param g = 9.81 m/s^2, m = 1 kg, c = 0.1 N*s^2/m^2 ;
        gravity = [0,-g,0] ;
        let p = body mass = m, centre = 0, inertia = 0 end ;
        join earth and p.frame as space with link(x, y) dof1 = [x, y, 0] end ;
        apply force [-c*sqrt(x'^2+y'^2)*x', -c*sqrt(x'^2+y'^2)*y', 0] on p.iframe ;
        init x' = 1 m/s ;""",
        [
            "m*x'' + c*x'*sqrt(x'^2+y'^2)",
            "m*(y''+g) + c*y'*sqrt(x'^2+y'^2)",
        ],
    ),
    "slider on a heavy rod": (
        """mechanism sliderod ;
        param g = 9.81 m/s^2, m = 1 kg, J = 1 kg*m^2, k = 100 N/m, l0 = 0.5 m, M = 1 kg, L = 1 m ;
        gravity = [0,-g,0] ;
        let rod = body mass = M, centre = [0,-L/2,0], inertia = diag(0,0,M*L^2/12) end ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and rod.frame as pin with revolute(th) end ;
        join rod.frame and bead.frame as sleeve with prismatic(r) along [0,-1,0] stiffness = k, rest = l0 end ;
        init r = 0.5 m ;""",
        [
            "(M*L^2/3 + m*r^2)*th'' + 2*m*r*r'*th' + (M*L/2 + m*r)*g*sin(th)",
            "m*r'' - m*r*th'^2 + k*(r-l0) - m*g*cos(th)",
        ],
    ),
    "gyroscope that turns a body": (
        """mechanism cmg ;
        param A = 1 kg*m^2, C = 2 kg*m^2, Jg = 0.5 kg*m^2, Jb = 3 kg*m^2 ;
        let bodyb = body mass = 0, inertia = diag(0,0,Jb) end ;
        let gimbal = body mass = 0, inertia = diag(Jg,0,0) end ;
        let rotor = body mass = 0, inertia = diag(A,A,C) end ;
        join earth and bodyb.frame as yaw with revolute(psi) about [0,0,1] torque = tau1(t) end ;
        join bodyb.frame and gimbal.frame as tilt with revolute(al) about [1,0,0] torque = tau2(t) end ;
        join gimbal.frame and rotor.frame as spin with revolute(om) about [0,0,1] end ;
        law tau1(t) in N*m ; law tau2(t) in N*m ;""",
        [
            "(Jb + A*sin(al)^2 + C*cos(al)^2)*psi'' + C*om''*cos(al) + 2*(A-C)*psi'*al'*sin(al)*cos(al) - C*om'*al'*sin(al) - tau1(t)",
            "(A+Jg)*al'' + (C-A)*psi'^2*sin(al)*cos(al) + C*om'*psi'*sin(al) - tau2(t)",
            "om'' + psi''*cos(al) - psi'*al'*sin(al)",
        ],
    ),
    "pendulum hauled up": (
        """mechanism pull ;
        param g = 9.81 m/s^2, m = 1 kg, l0 = 1 m, v = 0.01 m/s ;
        gravity = [0,-g,0] ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bob.frame as s with link(th) dof1 = th || [0,0,1], dof2 = [0, -(l0 - v*t), 0] end ;""",
        [
            "m*(l0 - v*t)*((l0 - v*t)*th'' - 2*v*th' + g*sin(th))",
        ],
    ),
    "rod on a string": (
        """mechanism rodstring ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, a = 0.5 m ;
        gravity = [0,-g,0] ;
        let rod = body mass = m, centre = [0,-a,0], inertia = diag(0,0,m*a^2/3) end ;
        join earth and rod.frame as s with link(th, ph) dof1 = th || [0,0,1], dof2 = [0,-l,0], dof3 = ph - th || [0,0,1] end ;""",
        [
            "l*th'' + a*ph''*cos(th-ph) + a*ph'^2*sin(th-ph) + g*sin(th)",
            "4/3*a*ph'' + l*th''*cos(th-ph) - l*th'^2*sin(th-ph) + g*sin(ph)",
        ],
    ),
    "rate gyro": (
        """mechanism rategyro ;
        param A = 1 kg*m^2, C = 2 kg*m^2, k = 1 N*m/rad, c = 1 N*m*s, W = 1 rad/s, n = 100 rad/s ;
        let rotor = body mass = 0, inertia = diag(A,C,A) end ;
        join earth and rotor.frame as g with link(th) dof1 = W*t || [0,0,1], dof2 = th || [1,0,0], dof3 = n*t || [0,1,0] stiffness(th) = k, damping(th) = c end ;""",
        [
            "A*th'' + c*th' + k*th - (C*n + (C-A)*W*sin(th))*W*cos(th)",
        ],
    ),
}
