"""Further textbook systems as descriptions, each with its equations in the form of courses on mechanics and control.

Equations with multipliers have the sign M v' + b + Cᵀ λ = Q; the rows of the constraints and of their rates follow. A
common factor of an equation is free.
"""

from __future__ import annotations

FURTHER_SYSTEMS: dict[str, tuple[str, list[str]]] = {
    "double spring pendulum": (
        """mechanism double_spring ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, k1 = 40 N/m, k2 = 40 N/m, a = 1 m, b = 1 m ;
        gravity = [0, -g, 0] ;
        let p1 = body mass = m1, centre = 0, inertia = 0 end ;
        let p2 = body mass = m2, centre = 0, inertia = 0 end ;
        join earth and p1.frame as j1 with link(th1, r1) dof1 = th1 || [0, 0, 1], dof2 = [0, -r1, 0],
            dof3 = -th1 || [0, 0, 1] stiffness(r1) = k1, rest(r1) = a end ;
        join p1.frame and p2.frame as j2 with link(th2, r2) dof1 = th2 || [0, 0, 1], dof2 = [0, -r2,
            0] stiffness(r2) = k2, rest(r2) = b end ;
        init r1 = 1 m, r2 = 1 m ;""",
        [
            "(m1+m2)*r1*th1'' + m2*r2*th2''*cos(th1-th2) - m2*r2''*sin(th1-th2) + 2*(m1+m2)*r1'*th1'"
            " + 2*m2*r2'*th2'*cos(th1-th2) + m2*r2*th2'^2*sin(th1-th2) + (m1+m2)*g*sin(th1)",
            "(m1+m2)*r1'' + m2*r2''*cos(th1-th2) + m2*r2*th2''*sin(th1-th2) + 2*m2*r2'*th2'*sin(th1-th2)"
            " - (m1+m2)*r1*th1'^2 - m2*r2*th2'^2*cos(th1-th2) + k1*(r1-a) - (m1+m2)*g*cos(th1)",
            "r2*th2'' + r1''*sin(th1-th2) + r1*th1''*cos(th1-th2) + 2*r2'*th2' + 2*r1'*th1'*cos(th1-th2)"
            " - r1*th1'^2*sin(th1-th2) + g*sin(th2)",
            "m2*r2'' + m2*r1''*cos(th1-th2) - m2*r1*th1''*sin(th1-th2) - m2*r2*th2'^2"
            " - m2*r1*th1'^2*cos(th1-th2) - 2*m2*r1'*th1'*sin(th1-th2) + k2*(r2-b) - m2*g*cos(th2)",
        ],
    ),
    "two bodies on a spring": (
        """mechanism twobody ;
        param m1 = 1 kg, m2 = 2 kg, k = 9 N/m, l0 = 1 m ;
        let a = body mass = m1, centre = 0, inertia = 0 end ;
        let b = body mass = m2, centre = 0, inertia = 0 end ;
        join earth and a.frame as first with link(x, y) dof = [x, y, 0] end ;
        join a.frame and b.frame as second with link(phi, r) dof1 = phi || [0,0,1], dof2 = [r, 0, 0] stiffness(r) = k, rest(r) = l0 end ;
        init r = 1 m ;""",
        [
            "(m1+m2)*x'' + m2*(r''*cos(phi) - r*phi''*sin(phi) - r*phi'^2*cos(phi) - 2*r'*phi'*sin(phi))",
            "(m1+m2)*y'' + m2*(r''*sin(phi) + r*phi''*cos(phi) - r*phi'^2*sin(phi) + 2*r'*phi'*cos(phi))",
            "r*phi'' + 2*r'*phi' - x''*sin(phi) + y''*cos(phi)",
            "m2*(r'' + x''*cos(phi) + y''*sin(phi) - r*phi'^2) + k*(r - l0)",
        ],
    ),
    "pendulums coupled by a torsion spring": (
        """mechanism coupled ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, kt = 2 N*m/rad ;
        gravity = [0,-g,0] ;
        let p = body mass = m, centre = [0,-l,0], inertia = 0 end ;
        let q = body mass = m, centre = [0,-l,0], inertia = 0 end ;
        join earth and p.frame as a with revolute(a1) about [0,0,1] torque = -kt*(a1 - a2) end ;
        join earth and q.frame as b with revolute(a2) about [0,0,1] torque = -kt*(a2 - a1) end ;""",
        [
            "m*l^2*a1'' + m*g*l*sin(a1) + kt*(a1-a2)",
            "m*l^2*a2'' + m*g*l*sin(a2) + kt*(a2-a1)",
        ],
    ),
    "gyroscopic pendulum": (
        """mechanism gyropend ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, A = 0.1 kg*m^2, C = 0.2 kg*m^2 ;
        gravity = [0,0,-g] ;
        let rod = body mass = 0, inertia = 0 end ;
        let frame = body mass = 0, inertia = 0 end ;
        let rotor = body mass = m, centre = [0,0,-l], inertia = diag(A,A,C) end ;
        join earth and frame.frame as o with revolute(phi) about [0,0,1] end ;
        join frame.frame and rod.frame as i with revolute(theta) about [1,0,0] end ;
        join rod.frame and rotor.frame as s with revolute(psi) about [0,0,1] end ;""",
        [
            "(A+m*l^2)*phi''*sin(theta)^2 + 2*(A+m*l^2)*phi'*theta'*sin(theta)*cos(theta) + C*(phi''*cos(theta) + psi'' - phi'*theta'*sin(theta))*cos(theta) - C*(psi' + phi'*cos(theta))*theta'*sin(theta)",
            "(A+m*l^2)*(theta'' - phi'^2*sin(theta)*cos(theta)) + C*(psi' + phi'*cos(theta))*phi'*sin(theta) + m*g*l*sin(theta)",
            "psi'' + phi''*cos(theta) - phi'*theta'*sin(theta)",
        ],
    ),
    "cart-pole": (
        """mechanism cart_pole ;
        param g = 9.81 m/s^2, M = 1 kg, m = 0.1 kg, l = 0.5 m, J = 0.01 kg*m^2, b = 0.1 N*s/m ;
        gravity = [0, -g, 0] ;
        let cart = body mass = M, centre = 0, inertia = 0 end ;
        let pole = body mass = m, centre = [0, l, 0], inertia = diag(0, 0, J) end ;
        join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] force = F(t) - b*x' end ;
        law F(t) in N ;
        join cart.frame and pole.frame as hinge with revolute(theta) about [0, 0, -1] end ;""",
        [
            "(M+m)*x'' + m*l*theta''*cos(theta) - m*l*theta'^2*sin(theta) + b*x' - F(t)",
            "(J+m*l^2)*theta'' + m*l*x''*cos(theta) - m*g*l*sin(theta)",
        ],
    ),
    "heavy top in Euler's angles": (
        """mechanism heavy_top ;
        param g = 9.81 m/s^2, m = 1 kg, l = 0.1 m, A = 0.02 kg*m^2, C = 0.01 kg*m^2 ;
        gravity = [0, 0, -g] ;
        let top = body mass = m, centre = [0, 0, l], inertia = diag(A, A, C) about frame end ;
        join earth and top.frame as tip with spherical(psi, theta, phi) angles zxz end ;
        init theta = 30 deg ;""",
        [
            "(A*sin(theta)^2 + C*cos(theta)^2)*psi'' + C*phi''*cos(theta)"
            " + 2*(A-C)*psi'*theta'*sin(theta)*cos(theta) - C*phi'*theta'*sin(theta)",
            "A*theta'' + (C-A)*psi'^2*sin(theta)*cos(theta) + C*phi'*psi'*sin(theta) - m*g*l*sin(theta)",
            "phi'' + psi''*cos(theta) - psi'*theta'*sin(theta)",
        ],
    ),
    "slider-crank": (
        """mechanism slider_crank ;
        param g = 9.81 m/s^2, r = 0.1 m, l = 0.3 m, J = 0.01 kg*m^2, m1 = 1 kg, m2 = 2 kg, m3 = 1 kg,
            J2 = 0.01 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let crank = body mass = m1, centre = 0, inertia = diag(0, 0, J) end ;
        let rod = body mass = m2, centre = [l/2, 0, 0], inertia = diag(0, 0, J2) end ;
        let piston = body mass = m3, centre = 0, inertia = 0 end ;
        join earth and crank.frame as main with revolute(theta) about [0, 0, 1] torque = tau(t) end ;
        law tau(t) in N*m ;
        join [r, 0, 0] @ crank and rod.frame as pin with revolute(phi) about [0, 0, 1] end ;
        join earth and piston.frame as guide with prismatic(x) along [1, 0, 0] end ;
        join [l, 0, 0] @ rod and piston.frame as wrist with revolute(beta) about [0, 0, 1] end ;
        init theta = 60 deg ;""",
        [
            "(J + m2*r^2)*theta'' + (J2 + m2*l^2/4)*(theta''+phi'') + m2*r*l*(theta''+phi''/2)*cos(phi)"
            " - m2*r*l*phi'*(theta'+phi'/2)*sin(phi) + m2*g*(r*cos(theta) + l/2*cos(theta+phi)) - tau(t)"
            " + lambda_wrist_x_of_earth*(r*sin(theta) + l*sin(theta+phi)) - lambda_wrist_y_of_earth*(r*cos(theta)"
            " + l*cos(theta+phi))",
            "(J2 + m2*l^2/4)*(theta''+phi'') + m2*r*l/2*theta''*cos(phi) + m2*r*l/2*theta'^2*sin(phi)"
            " + m2*g*l/2*cos(theta+phi) + l*lambda_wrist_x_of_earth*sin(theta+phi) - l*lambda_wrist_y_of_earth*cos(theta+phi)",
            "m3*x'' + lambda_wrist_x_of_earth",
            "x - r*cos(theta) - l*cos(theta+phi)",
            "x' + r*theta'*sin(theta) + l*(theta'+phi')*sin(theta+phi)",
            "r*sin(theta) + l*sin(theta+phi)",
            "r*theta'*cos(theta) + l*(theta'+phi')*cos(theta+phi)",
        ],
    ),
    "four-bar linkage": (
        """mechanism four_bar ;
        param a = 0.1 m, b = 0.3 m, c = 0.25 m, d = 0.3 m, J1 = 0.01 kg*m^2, J2 = 0.02 kg*m^2,
            J3 = 0.03 kg*m^2, m = 1 kg ;
        let crank = body mass = 0, centre = 0, inertia = diag(0, 0, J1) end ;
        let coupler = body mass = m, centre = [b/2, 0, 0], inertia = diag(0, 0, J2) end ;
        let rocker = body mass = 0, centre = 0, inertia = diag(0, 0, J3) end ;
        join earth and crank.frame as A with revolute(alpha) about [0, 0, 1] end ;
        join [a, 0, 0] @ crank and coupler.frame as B with revolute(beta) about [0, 0, 1] end ;
        join [d, 0, 0] @ earth and rocker.frame as D with revolute(delta) about [0, 0, 1] end ;
        join [b, 0, 0] @ coupler and [c, 0, 0] @ rocker as C with revolute(gam) about [0, 0, 1] end ;
        init alpha = 60 deg ;""",
        [
            "(J1 + m*a^2)*alpha'' + (J2 + m*b^2/4)*(alpha''+beta'') + m*a*b*(alpha''+beta''/2)*cos(beta)"
            " - m*a*b*beta'*(alpha'+beta'/2)*sin(beta) + lambda_C_x_of_earth*(a*sin(alpha) + b*sin(alpha+beta))"
            " - lambda_C_y_of_earth*(a*cos(alpha) + b*cos(alpha+beta))",
            "(J2 + m*b^2/4)*(alpha''+beta'') + m*a*b/2*alpha''*cos(beta) + m*a*b/2*alpha'^2*sin(beta)"
            " + b*lambda_C_x_of_earth*sin(alpha+beta) - b*lambda_C_y_of_earth*cos(alpha+beta)",
            "J3*delta'' + c*lambda_C_y_of_earth*cos(delta) - c*lambda_C_x_of_earth*sin(delta)",
            "d + c*cos(delta) - a*cos(alpha) - b*cos(alpha+beta)",
            "c*delta'*sin(delta) - a*alpha'*sin(alpha) - b*(alpha'+beta')*sin(alpha+beta)",
            "c*sin(delta) - a*sin(alpha) - b*sin(alpha+beta)",
            "c*delta'*cos(delta) - a*alpha'*cos(alpha) - b*(alpha'+beta')*cos(alpha+beta)",
        ],
    ),
    "swinging Atwood machine": (
        """mechanism swinging_atwood ;
        param g = 9.81 m/s^2, M = 3 kg, m = 1 kg ;
        gravity = [0, -g, 0] ;
        let big = body mass = M, centre = 0, inertia = 0 end ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bob.frame as swing with link(theta, r) dof1 = theta || [0, 0, 1], dof2 = [0, -r, 0] end ;
        join [-1, 0, 0] m @ earth and big.frame as hang with prismatic(y) along [0, 1, 0] end ;
        constrain y = r as rope ;
        init r = 1 m ;""",
        [
            "r*theta'' + 2*r'*theta' + g*sin(theta)",
            "m*r'' - m*r*theta'^2 - m*g*cos(theta) + lambda_rope",
            "M*y'' + M*g - lambda_rope",
            "r - y",
            "r' - y'",
        ],
    ),
    "pendulum on a cart with a spring": (
        """mechanism spring_cart_pendulum ;
        param g = 9.81 m/s^2, M = 3 kg, m = 1 kg, l = 1 m, k = 10 N/m, c = 0.1 N*s/m, d = 0.1 N*m*s ;
        gravity = [0, -g, 0] ;
        let cart = body mass = M, centre = 0, inertia = 0 end ;
        let bob = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
        join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k, damping = c end ;
        join cart.frame and bob.frame as pin with revolute(theta) about [0, 0, 1] damping = d end ;""",
        [
            "(M+m)*x'' + m*l*theta''*cos(theta) - m*l*theta'^2*sin(theta) + c*x' + k*x",
            "m*l^2*theta'' + m*l*x''*cos(theta) + d*theta' + m*g*l*sin(theta)",
        ],
    ),
    "Kapitza's pendulum": (
        """mechanism kapitza ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, a = 0.05 m, w = 120 rad/s ;
        gravity = [0, -g, 0] ;
        let bob = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
        join [0, a*cos(w*t), 0] @ earth and bob.frame as pivot with revolute(theta) about [0, 0, 1] end ;""",
        [
            "l*theta'' + g*sin(theta) - a*w^2*cos(w*t)*sin(theta)",
        ],
    ),
    "Foucault's pendulum": (
        """mechanism foucault ;
        param g = 9.81 m/s^2, m = 1 kg, l = 10 m, W = 7.29e-5 rad/s, lat = 45 deg ;
        gravity = [0, 0, -g] ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bob.frame as wire with link(x, y) dof1 = W*sin(lat)*t || [0, 0, 1], dof2 = [x, y,
            0] end ;
        apply force [-m*g/l*x, -m*g/l*y, 0] in bob on bob.iframe ;""",
        [
            "x'' - 2*W*y'*sin(lat) + g/l*x - W^2*x*sin(lat)^2",
            "y'' + 2*W*x'*sin(lat) + g/l*y - W^2*y*sin(lat)^2",
        ],
    ),
    "ball in a turning tube": (
        """mechanism rotating_tube ;
        param g = 9.81 m/s^2, m = 1 kg, W = 2 rad/s ;
        gravity = [0, -g, 0] ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bead.frame as tube with link(r) dof1 = W*t || [0, 0, 1], dof2 = [r, 0, 0] end ;""",
        [
            "r'' - r*W^2 + g*sin(W*t)",
        ],
    ),
    "double pendulum on a cart": (
        """mechanism cart_double ;
        param g = 9.81 m/s^2, M = 3 kg, m1 = 1 kg, m2 = 1 kg, l1 = 1 m, l2 = 1 m ;
        gravity = [0, -g, 0] ;
        let cart = body mass = M, centre = 0, inertia = 0 end ;
        let p1 = body mass = m1, centre = 0, inertia = 0 end ;
        let p2 = body mass = m2, centre = 0, inertia = 0 end ;
        join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] end ;
        join cart.frame and p1.frame as j1 with link(th1) dof1 = th1 || [0, 0, 1], dof2 = [0, -l1, 0],
            dof3 = -th1 || [0, 0, 1] end ;
        join p1.frame and p2.frame as j2 with link(th2) dof1 = th2 || [0, 0, 1], dof2 = [0, -l2, 0] end ;""",
        [
            "(M+m1+m2)*x'' + (m1+m2)*l1*th1''*cos(th1) + m2*l2*th2''*cos(th2) - (m1+m2)*l1*th1'^2*sin(th1)"
            " - m2*l2*th2'^2*sin(th2)",
            "(m1+m2)*l1*th1'' + (m1+m2)*x''*cos(th1) + m2*l2*th2''*cos(th1-th2) + m2*l2*th2'^2*sin(th1-th2)"
            " + (m1+m2)*g*sin(th1)",
            "l2*th2'' + x''*cos(th2) + l1*th1''*cos(th1-th2) - l1*th1'^2*sin(th1-th2) + g*sin(th2)",
        ],
    ),
    "inertia-wheel pendulum": (
        """mechanism inertia_wheel ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, l1 = 0.5 m, l2 = 1 m, J1 = 0.1 kg*m^2, J2 = 0.02 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let rod = body mass = m1, centre = [0, l1, 0], inertia = diag(0, 0, J1) end ;
        let wheel = body mass = m2, centre = 0, inertia = diag(0, 0, J2) end ;
        join earth and rod.frame as pivot with revolute(theta) about [0, 0, 1] end ;
        join [0, l2, 0] @ rod and wheel.frame as axle with revolute(phi) about [0, 0, 1] torque = tau(t) end ;
        law tau(t) in N*m ;""",
        [
            "(m1*l1^2 + m2*l2^2 + J1 + J2)*theta'' + J2*phi'' - (m1*l1 + m2*l2)*g*sin(theta)",
            "J2*(theta'' + phi'') - tau(t)",
        ],
    ),
    "ball and beam": (
        """mechanism ball_beam ;
        param g = 9.81 m/s^2, m = 0.1 kg, R = 0.02 m, J = 1 kg*m^2, Jb = 1e-5 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let beam = body mass = 0, inertia = diag(0, 0, J) end ;
        let ball = body mass = m, centre = 0, inertia = diag(0, 0, Jb) end ;
        join earth and beam.frame as pivot with revolute(theta) about [0, 0, 1] torque = tau(t) end ;
        law tau(t) in N*m ;
        join beam.frame and ball.frame as roll with link(r) dof1 = [r, 0, 0], dof2 = -r/R || [0, 0, 1] end ;""",
        [
            "(J + Jb + m*r^2)*theta'' - Jb*r''/R + 2*m*r*r'*theta' + m*g*r*cos(theta) - tau(t)",
            "(m + Jb/R^2)*r'' - Jb*theta''/R - m*r*theta'^2 + m*g*sin(theta)",
        ],
    ),
    "Watt's governor": (
        """mechanism governor ;
        param g = 9.81 m/s^2, m = 1 kg, M = 2 kg, l = 0.3 m, J = 0.1 kg*m^2 ;
        gravity = [0, 0, -g] ;
        let spindle = body mass = 0, inertia = diag(0, 0, J) end ;
        let b1 = body mass = m, centre = [0, 0, -l], inertia = 0 end ;
        let b2 = body mass = m, centre = [0, 0, -l], inertia = 0 end ;
        let sleeve = body mass = M, centre = 0, inertia = 0 end ;
        join earth and spindle.frame as axle with revolute(phi) about [0, 0, 1] torque = tau(t) end ;
        law tau(t) in N*m ;
        join spindle.frame and b1.frame as arm1 with revolute(a1) about [0, -1, 0] end ;
        join spindle.frame and b2.frame as arm2 with revolute(a2) about [0, 1, 0] end ;
        join spindle.frame and sleeve.frame as slide with prismatic(z) along [0, 0, -1] end ;
        constrain z = 2*l*cos(a1) as links ;
        constrain a2 = a1 as mirror ;
        init a1 = 30 deg ;""",
        [
            "J*phi'' + m*l^2*phi''*(sin(a1)^2 + sin(a2)^2) + 2*m*l^2*phi'*(a1'*sin(a1)*cos(a1)"
            " + a2'*sin(a2)*cos(a2)) - tau(t)",
            "m*l^2*a1'' - m*l^2*phi'^2*sin(a1)*cos(a1) + m*g*l*sin(a1) + lambda_mirror - 2*l*lambda_links*sin(a1)",
            "m*l^2*a2'' - m*l^2*phi'^2*sin(a2)*cos(a2) + m*g*l*sin(a2) - lambda_mirror",
            "M*(z''-g) - lambda_links",
            "z - 2*l*cos(a1)",
            "z' + 2*l*a1'*sin(a1)",
            "a1 - a2",
            "a1' - a2'",
        ],
    ),
    "Chaplygin's sleigh": (
        """mechanism sleigh ;
        param m = 1 kg, J = 0.1 kg*m^2, a = 0.2 m ;
        let body1 = body mass = m, centre = [a, 0, 0], inertia = diag(0, 0, J) end ;
        join earth and body1.frame as ice with planar(x, y, psi) end ;
        constrain 0 = -x'*sin(psi) + y'*cos(psi) as blade ;""",
        [
            "m*x'' - m*a*psi''*sin(psi) - m*a*psi'^2*cos(psi) - lambda_blade*sin(psi)",
            "m*y'' + m*a*psi''*cos(psi) - m*a*psi'^2*sin(psi) + lambda_blade*cos(psi)",
            "(J+m*a^2)*psi'' + m*a*(y''*cos(psi) - x''*sin(psi))",
            "y'*cos(psi) - x'*sin(psi)",
        ],
    ),
    "ladder on a wall": (
        """mechanism ladder ;
        param g = 9.81 m/s^2, m = 1 kg, l = 2 m ;
        gravity = [0, -g, 0] ;
        let ladder = body mass = m, centre = 0, inertia = diag(0, 0, 1/3*m*l^2) end ;
        join earth and ladder.frame as fall with planar(x, y, theta) end ;
        constrain x = l*cos(theta) as wall ;
        constrain y = l*sin(theta) as floor ;
        init theta = 60 deg ;""",
        [
            "m*x'' - lambda_wall",
            "m*y'' + m*g - lambda_floor",
            "m*l*theta''/3 + lambda_floor*cos(theta) - lambda_wall*sin(theta)",
            "x - l*cos(theta)",
            "x' + l*theta'*sin(theta)",
            "y - l*sin(theta)",
            "y' - l*theta'*cos(theta)",
        ],
    ),
    "unicycle": (
        """mechanism unicycle ;
        param m = 1 kg, J = 0.1 kg*m^2 ;
        let robot = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        join earth and robot.frame as ground with planar(x, y, psi) speeds v, w = velocity in robot,
            r = psi' end ;
        constrain 0 = w as nosideslip ;
        apply force [F(t), 0, 0] in robot on robot.iframe ;
        law F(t) in N ;
        apply torque [0, 0, tau(t)] on robot ;
        law tau(t) in N*m ;""",
        [
            "m*v' - m*r*w - F(t)",
            "m*w' + m*r*v + lambda_nosideslip",
            "J*r' - tau(t)",
            "w",
        ],
    ),
    "planar quadrotor": (
        """mechanism quadrotor ;
        param g = 9.81 m/s^2, m = 1 kg, J = 0.1 kg*m^2, d = 0.2 m ;
        gravity = [0, -g, 0] ;
        let drone = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        join earth and drone.frame as air with planar(x, y, theta) end ;
        apply force [0, F1(t), 0] in drone on [d, 0, 0] @ drone as right ;
        apply force [0, F2(t), 0] in drone on [-d, 0, 0] @ drone as left ;
        law F1(t) in N ;
        law F2(t) in N ;""",
        [
            "m*x'' + (F1(t)+F2(t))*sin(theta)",
            "m*y'' + m*g - (F1(t)+F2(t))*cos(theta)",
            "J*theta'' - d*(F1(t)-F2(t))",
        ],
    ),
    "two-link arm": (
        """mechanism two_link ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, a1 = 1 m, c1 = 0.5 m, c2 = 0.5 m, I1 = 0.1 kg*m^2,
            I2 = 0.1 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let l1 = body mass = m1, centre = [c1, 0, 0], inertia = diag(0, 0, I1) end ;
        let l2 = body mass = m2, centre = [c2, 0, 0], inertia = diag(0, 0, I2) end ;
        join earth and l1.frame as s with revolute(q1) about [0, 0, 1] torque = tau1(t) end ;
        join [a1, 0, 0] @ l1 and l2.frame as e with revolute(q2) about [0, 0, 1] torque = tau2(t) end ;
        law tau1(t) in N*m ;
        law tau2(t) in N*m ;""",
        [
            "(m1*c1^2 + m2*a1^2 + I1)*q1'' + (m2*c2^2 + I2)*(q1''+q2'') + m2*a1*c2*(2*q1''+q2'')*cos(q2)"
            " - m2*a1*c2*(2*q1'+q2')*q2'*sin(q2) + (m1*c1+m2*a1)*g*cos(q1) + m2*c2*g*cos(q1+q2) - tau1(t)",
            "(m2*c2^2 + I2)*(q1''+q2'') + m2*a1*c2*q1''*cos(q2) + m2*a1*c2*q1'^2*sin(q2)"
            " + m2*c2*g*cos(q1+q2) - tau2(t)",
        ],
    ),
    "turning pendulum with friction": (
        """mechanism rotating_pendulum ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, W = 2 rad/s, c = 0.1 N*m*s ;
        gravity = [0, 0, -g] ;
        let bob = body mass = m, centre = [0, 0, -l], inertia = 0 end ;
        join earth and bob.frame as pivot with link(theta) dof1 = W*t || [0, 0, 1], dof2 = theta || [0, 1,
            0] end ;
        apply torque -c*theta' on theta ;""",
        [
            "m*l^2*theta'' + c*theta' + m*g*l*sin(theta) - m*l^2*W^2*sin(theta)*cos(theta)",
        ],
    ),
    "block on a sliding wedge": (
        """mechanism wedge ;
        param g = 9.81 m/s^2, M = 2 kg, m = 1 kg, al = 30 deg ;
        gravity = [0, -g, 0] ;
        let wedge = body mass = M, centre = 0, inertia = 0 end ;
        let block = body mass = m, centre = 0, inertia = 0 end ;
        join earth and wedge.frame as floor with prismatic(x) along [1, 0, 0] end ;
        join wedge.frame and block.frame as slope with prismatic(s) along [cos(al), -sin(al), 0] end ;""",
        [
            "(M+m)*x'' + m*s''*cos(al)",
            "s'' + x''*cos(al) - g*sin(al)",
        ],
    ),
    "bead on a cycloid": (
        """mechanism cycloid ;
        param g = 9.81 m/s^2, m = 1 kg, a = 1 m ;
        gravity = [0, -g, 0] ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bead.frame as wire with link(th) dof1 = [a*(th - sin(th)), a*(1 + cos(th)), 0] end ;
        init th = 1 rad ;""",
        [
            "2*a*(1-cos(th))*th'' + a*th'^2*sin(th) - g*sin(th)",
        ],
    ),
    "bead on a parabola": (
        """mechanism parabola ;
        param g = 9.81 m/s^2, m = 1 kg, a = 1 1/m ;
        gravity = [0, -g, 0] ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bead.frame as wire with link(x) dof1 = [x, a*x^2, 0] end ;""",
        [
            "(1+4*a^2*x^2)*x'' + 4*a^2*x*x'^2 + 2*a*g*x",
        ],
    ),
    "particle in a cone": (
        """mechanism cone ;
        param g = 9.81 m/s^2, m = 1 kg, al = 30 deg ;
        gravity = [0, 0, -g] ;
        let p = body mass = m, centre = 0, inertia = 0 end ;
        join earth and p.frame as cone with link(th, r) dof1 = th || [0, 0, 1], dof2 = [r*sin(al), 0,
            r*cos(al)] end ;
        init r = 1 m ;""",
        [
            "r*(r*th'' + 2*r'*th')*sin(al)^2",
            "r'' - r*th'^2*sin(al)^2 + g*cos(al)",
        ],
    ),
    "Euler's equations": (
        """mechanism euler ;
        param A = 1 kg*m^2, B = 2 kg*m^2, C = 3 kg*m^2 ;
        let b = body mass = 1 kg, centre = 0, inertia = diag(A, B, C) end ;
        join earth and b.frame as pin with spherical(psi, theta, phi) angles zxz speeds p, q,
            r = rotation in b end ;""",
        [
            "A*p' + (C-B)*q*r",
            "B*q' + (A-C)*p*r",
            "C*r' + (B-A)*p*q",
        ],
    ),
    "quarter car": (
        """mechanism quarter_car ;
        param ms = 300 kg, mu = 40 kg, ks = 20000 N/m, kt = 200000 N/m, c = 1000 N*s/m ;
        let axle = body mass = mu, centre = 0, inertia = 0 end ;
        let chassis = body mass = ms, centre = 0, inertia = 0 end ;
        join earth and axle.frame as tyre with prismatic(zu) along [0, 0, 1] force = -kt*(zu - road(t)) end ;
        law road(t) in m ;
        join earth and chassis.frame as sus with prismatic(zs) along [0, 0, 1] end ;
        apply force -ks*(zs-zu) - c*(zs'-zu') on zs ;
        apply force ks*(zs-zu) + c*(zs'-zu') on zu ;""",
        [
            "mu*zu'' + c*(zu'-zs') + ks*(zu-zs) + kt*(zu-road(t))",
            "ms*zs'' + c*(zs'-zu') + ks*(zs-zu)",
        ],
    ),
    "crane with a hoist": (
        """mechanism trolley_hoist ;
        param g = 9.81 m/s^2, M = 1 kg, m = 1 kg ;
        gravity = [0, -g, 0] ;
        let cart = body mass = M, centre = 0, inertia = 0 end ;
        let p = body mass = m, centre = 0, inertia = 0 end ;
        join earth and cart.frame as rail with prismatic(x) along [1, 0, 0] force = F(t) end ;
        law F(t) in N ;
        join cart.frame and p.frame as rope with link(theta, l) dof1 = theta || [0, 0, 1], dof2 = [0, -l,
            0] end ;
        init l = 1 m ;""",
        [
            "(M+m)*x'' + m*l''*sin(theta) + m*l*theta''*cos(theta) + 2*m*l'*theta'*cos(theta)"
            " - m*l*theta'^2*sin(theta) - F(t)",
            "l*theta'' + x''*cos(theta) + 2*l'*theta' + g*sin(theta)",
            "l'' + x''*sin(theta) - l*theta'^2 - g*cos(theta)",
        ],
    ),
    "rotor with an unbalance": (
        """mechanism whirling ;
        param m = 1 kg, k = 100 N/m, c = 1 N*s/m, e = 0.01 m, W = 10 rad/s ;
        let rotor = body mass = m, centre = 0, inertia = 0 end ;
        join earth and rotor.frame as shaft with link(x, y) dof1 = [x, y, 0], dof2 = W*t || [0, 0, 1],
            dof3 = [e, 0, 0] stiffness(x) = k, stiffness(y) = k, damping(x) = c, damping(y) = c end ;""",
        [
            "m*x'' + c*x' + k*x - m*e*W^2*cos(W*t)",
            "m*y'' + c*y' + k*y - m*e*W^2*sin(W*t)",
        ],
    ),
    "ball on a fixed sphere": (
        """mechanism ball_on_sphere ;
        param R = 1 m, r = 0.2 m, m = 1 kg, g = 9.81 m/s^2 ;
        gravity = [0, -g, 0] ;
        let b = body mass = m, centre = 0, inertia = diag(2*m*r^2/5, 2*m*r^2/5, 2*m*r^2/5) end ;
        join earth and b.frame as s with link(th) dof1 = -th || [0,0,1], dof2 = [0, R + r, 0], dof3 = -R/r*th || [0,0,1] end ;""",
        ["7*(R+r)*th'' - 5*g*sin(th)"],
    ),
    "governor at a given speed": (
        """mechanism driven_governor ;
        param m = 1 kg, M = 2 kg, l = 0.5 m, g = 9.81 m/s^2, W = 10 rad/s ;
        gravity = [0, 0, -g] ;
        let left = body mass = m, centre = 0, inertia = 0 end ;
        let right = body mass = m, centre = 0, inertia = 0 end ;
        let sleeve = body mass = M, centre = 0, inertia = 0 end ;
        join earth and left.frame as p1 with link(th) dof1 = W*t || [0,0,1], dof2 = -th || [0,1,0], dof3 = [0,0,-l] end ;
        join earth and right.frame as p2 with link() dof1 = W*t || [0,0,1], dof2 = th || [0,1,0], dof3 = [0,0,-l] end ;
        join earth and sleeve.frame as rise with link() dof = [0, 0, -2*l*cos(th)] end ;""",
        [
            "m*l*th'' + 2*M*l*th''*sin(th)^2 + 2*M*l*th'^2*sin(th)*cos(th) - m*l*W^2*sin(th)*cos(th) + (M+m)*g*sin(th)",
        ],
    ),
    "hoop with a pendulum": (
        """mechanism hoop_pendulum ;
        param M = 2 kg, m = 1 kg, R = 0.5 m, l = 0.4 m, g = 9.81 m/s^2 ;
        gravity = [0, -g, 0] ;
        let hoop = body mass = M, centre = 0, inertia = diag(0, 0, M*R^2) end ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and hoop.frame as roll with link(ph) dof1 = [R*ph, 0, 0], dof2 = -ph || [0,0,1] end ;
        join earth and bob.frame as rod with link(th) dof1 = [R*ph, 0, 0], dof2 = th || [0,0,1], dof3 = [0, -l, 0] end ;""",
        [
            "(2*M+m)*R*ph'' + m*l*th''*cos(th) - m*l*th'^2*sin(th)",
            "l*th'' + R*ph''*cos(th) + g*sin(th)",
        ],
    ),
    "double Atwood machine": (
        """mechanism double_atwood ;
        param m1 = 1 kg, m2 = 2 kg, m3 = 3 kg, M = 1 kg, J = 0.1 kg*m^2, R = 0.1 m, g = 9.81 m/s^2 ;
        gravity = [0, 0, -g] ;
        let p = body mass = M, centre = 0, inertia = diag(0, J, 0) end ;
        let a = body mass = m1, centre = 0, inertia = 0 end ;
        let b = body mass = m2, centre = 0, inertia = 0 end ;
        let c = body mass = m3, centre = 0, inertia = 0 end ;
        join earth and a.frame as j1 with link(x) dof = [0, 0, -x] end ;
        join earth and p.frame as j2 with link(y) dof1 = [0, 0, x], dof2 = y/R || [0,1,0] end ;
        join earth and b.frame as j3 with link() dof = [0, 0, x - y] end ;
        join earth and c.frame as j4 with link() dof = [0, 0, x + y] end ;""",
        [
            "(M+m1+m2+m3)*x'' + (m3-m2)*y'' + (M+m2+m3-m1)*g",
            "m2*(y''-x''-g) + m3*(x''+y''+g) + J*y''/R^2",
        ],
    ),
    "particle on a torus": (
        """mechanism torus ;
        param g = 9.81 m/s^2, m = 1 kg, R = 2 m, a = 1 m ;
        gravity = [0, 0, -g] ;
        let p = body mass = m, centre = 0, inertia = 0 end ;
        join earth and p.frame as surface with link(phi, th) dof1 = phi || [0, 0, 1],
            dof2 = [R + a*cos(th), 0, a*sin(th)] end ;""",
        [
            "(R + a*cos(th))*((R + a*cos(th))*phi'' - 2*a*phi'*th'*sin(th))",
            "a*th'' + (R + a*cos(th))*phi'^2*sin(th) + g*cos(th)",
        ],
    ),
    "two bodies that attract each other": (
        """mechanism two_bodies ;
        param G = 6.67e-11 m^3/kg/s^2, m1 = 1 kg, m2 = 2 kg ;
        let a = body mass = m1, centre = 0, inertia = 0 end ;
        let b = body mass = m2, centre = 0, inertia = 0 end ;
        join earth and a.frame as first with link(x1, y1) dof1 = [x1, y1, 0] end ;
        join earth and b.frame as second with link(x2, y2) dof1 = [x2, y2, 0] end ;
        apply spring law = G*m1*m2/length^2 between a and b ;
        init x2 = 1 m ;""",
        [
            "x1'' + G*m2*(x1 - x2)/sqrt((x1 - x2)^2 + (y1 - y2)^2)^3",
            "y1'' + G*m2*(y1 - y2)/sqrt((x1 - x2)^2 + (y1 - y2)^2)^3",
            "x2'' + G*m1*(x2 - x1)/sqrt((x1 - x2)^2 + (y1 - y2)^2)^3",
            "y2'' + G*m1*(y2 - y1)/sqrt((x1 - x2)^2 + (y1 - y2)^2)^3",
        ],
    ),
    "ball rolling in a bowl": (
        """mechanism bowl ;
        param g = 9.81 m/s^2, m = 1 kg, R = 1 m, r = 0.1 m ;
        gravity = [0, -g, 0] ;
        let ball = body sphere radius = r, mass = m end ;
        join earth and ball.frame as roll with link(th) dof1 = th || [0, 0, 1], dof2 = [0, r - R, 0],
            dof3 = -R/r*th || [0, 0, 1] end ;""",
        ["(R - r)*(7/5*(R - r)*th'' + g*sin(th))"],
    ),
}
