"""Systems of courses on robots, vehicles, gears and orbits, each with its equations in the form of such courses.

Equations with multipliers have the sign M v' + b + Cᵀ λ = Q; the rows of the constraints and of their rates follow. A
common factor of an equation is free.
"""

from __future__ import annotations

ENGINEERING_SYSTEMS: dict[str, tuple[str, list[str]]] = {
    "planar arm with three links": (
        """mechanism planar_arm ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, m3 = 1 kg, l1 = 1 m, l2 = 1 m, c1 = 0.5 m, c2 = 0.5 m, c3 = 0.5 m,
            I1 = 0.1 kg*m^2, I2 = 0.1 kg*m^2, I3 = 0.1 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let a = body mass = m1, centre = [c1, 0, 0], inertia = diag(0, 0, I1) end ;
        let b = body mass = m2, centre = [c2, 0, 0], inertia = diag(0, 0, I2) end ;
        let c = body mass = m3, centre = [c3, 0, 0], inertia = diag(0, 0, I3) end ;
        join earth and a.frame as j1 with revolute(q1) torque = tau1(t) end ;
        join [l1, 0, 0] @ a and b.frame as j2 with revolute(q2) torque = tau2(t) end ;
        join [l2, 0, 0] @ b and c.frame as j3 with revolute(q3) torque = tau3(t) end ;
        law tau1(t) in N*m ; law tau2(t) in N*m ; law tau3(t) in N*m ;""",
        [
            "(I1 + m1*c1^2 + (m2+m3)*l1^2)*q1'' + (I2 + m2*c2^2 + m3*l2^2)*(q1''+q2'') + (I3 + m3*c3^2)*(q1''+q2''+q3'')"
            " + (m2*c2 + m3*l2)*l1*(2*q1''+q2'')*cos(q2) - (m2*c2 + m3*l2)*l1*q2'*(2*q1'+q2')*sin(q2)"
            " + m3*l1*c3*(2*q1''+q2''+q3'')*cos(q2+q3) - m3*l1*c3*(q2'+q3')*(2*q1'+q2'+q3')*sin(q2+q3)"
            " + m3*l2*c3*(2*q1''+2*q2''+q3'')*cos(q3) - m3*l2*c3*q3'*(2*q1'+2*q2'+q3')*sin(q3)"
            " + m1*g*c1*cos(q1) + m2*g*(l1*cos(q1) + c2*cos(q1+q2))"
            " + m3*g*(l1*cos(q1) + l2*cos(q1+q2) + c3*cos(q1+q2+q3)) - tau1(t)",
            "(I2 + m2*c2^2 + m3*l2^2)*(q1''+q2'') + (I3 + m3*c3^2)*(q1''+q2''+q3'')"
            " + (m2*c2 + m3*l2)*l1*q1''*cos(q2) + m3*l1*c3*q1''*cos(q2+q3) + m3*l2*c3*(2*q1''+2*q2''+q3'')*cos(q3)"
            " + (m2*c2 + m3*l2)*l1*q1'^2*sin(q2) + m3*l1*c3*q1'^2*sin(q2+q3) - m3*l2*c3*q3'*(2*q1'+2*q2'+q3')*sin(q3)"
            " + (m2*c2 + m3*l2)*g*cos(q1+q2) + m3*g*c3*cos(q1+q2+q3) - tau2(t)",
            "(I3 + m3*c3^2)*(q1''+q2''+q3'') + m3*l1*c3*q1''*cos(q2+q3) + m3*l2*c3*(q1''+q2'')*cos(q3)"
            " + m3*l1*c3*q1'^2*sin(q2+q3) + m3*l2*c3*(q1'+q2')^2*sin(q3) + m3*g*c3*cos(q1+q2+q3) - tau3(t)",
        ],
    ),
    "half car": (
        """mechanism half_car ;
        param m = 700 kg, J = 1200 kg*m^2, a = 1.2 m, b = 1.5 m, kf = 20 kN/m, kr = 22 kN/m, cf = 1.5 kN*s/m,
            cr = 1.6 kN*s/m, mf = 40 kg, mr = 40 kg, ktf = 200 kN/m, ktr = 200 kN/m ;
        let chassis = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        let front = body mass = mf, centre = 0, inertia = 0 end ;
        let rear = body mass = mr, centre = 0, inertia = 0 end ;
        join earth and chassis.frame as heave with link(z, theta) dof1 = [0, z, 0], dof2 = theta || [0, 0, 1] end ;
        join [a, 0, 0] @ earth and front.frame as wf with prismatic(zf) along [0, 1, 0] force = -ktf*zf + F1(t) end ;
        join [-b, 0, 0] @ earth and rear.frame as wr with prismatic(zr) along [0, 1, 0] force = -ktr*zr + F2(t) end ;
        law F1(t) in N ; law F2(t) in N ;
        apply force [0, -kf*(z + a*theta - zf) - cf*(z' + a*theta' - zf'), 0] on [a, 0, 0] @ chassis ;
        apply force [0, kf*(z + a*theta - zf) + cf*(z' + a*theta' - zf'), 0] on front.iframe ;
        apply force [0, -kr*(z - b*theta - zr) - cr*(z' - b*theta' - zr'), 0] on [-b, 0, 0] @ chassis ;
        apply force [0, kr*(z - b*theta - zr) + cr*(z' - b*theta' - zr'), 0] on rear.iframe ;""",
        [
            "m*z'' + cf*(z' + a*theta' - zf') + cr*(z' - b*theta' - zr') + kf*(z + a*theta - zf) + kr*(z - b*theta - zr)",
            "J*theta'' + cf*a*(z' + a*theta' - zf')*cos(theta) - cr*b*(z' - b*theta' - zr')*cos(theta)"
            " + kf*a*(z + a*theta - zf)*cos(theta) - kr*b*(z - b*theta - zr)*cos(theta)",
            "mf*zf'' - cf*(z' + a*theta' - zf') - kf*(z + a*theta - zf) + ktf*zf - F1(t)",
            "mr*zr'' - cr*(z' - b*theta' - zr') - kr*(z - b*theta - zr) + ktr*zr - F2(t)",
        ],
    ),
    "pendulums coupled by a spring": (
        """mechanism spring_pendula ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m, a = 0.5 m, d = 1 m, k = 10 N/m ;
        gravity = [0, -g, 0] ;
        let left = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
        let right = body mass = m, centre = [0, -l, 0], inertia = 0 end ;
        join earth and left.frame as p1 with revolute(th1) end ;
        join [d, 0, 0] @ earth and right.frame as p2 with revolute(th2) end ;
        apply spring stiffness = k, rest = d between [0, -a, 0] @ left and [0, -a, 0] @ right ;""",
        [
            "m*l^2*th1'' + m*g*l*sin(th1) + k*a*(a*sin(th1-th2) - d*cos(th1))"
            "*(1 - d/sqrt(d^2 + 2*a^2*(1 - cos(th1-th2)) - 2*a*d*(sin(th1) - sin(th2))))",
            "m*l^2*th2'' + m*g*l*sin(th2) + k*a*(d*cos(th2) - a*sin(th1-th2))"
            "*(1 - d/sqrt(d^2 + 2*a^2*(1 - cos(th1-th2)) - 2*a*d*(sin(th1) - sin(th2))))",
        ],
    ),
    "gyrocompass": (
        """mechanism gyrocompass ;
        param W = 7.29e-5 rad/s, lat = 45 deg, A = 0.1 kg*m^2, C = 0.2 kg*m^2 ;
        let rotor = body mass = 0, centre = 0, inertia = diag(A, A, C) end ;
        join earth and rotor.frame as gimbals with link(alpha, psi) dof1 = W*t || [0, 0, 1],
            dof2 = pi/2 - lat || [0, 1, 0], dof3 = alpha || [0, 0, 1], dof4 = pi/2 || [0, 1, 0],
            dof5 = psi || [0, 0, 1] end ;""",
        [
            "A*alpha'' + (C-A)*W^2*cos(lat)^2*sin(alpha)*cos(alpha) - C*W*psi'*cos(lat)*sin(alpha)",
            "psi'' + W*alpha'*cos(lat)*sin(alpha)",
        ],
    ),
    "planetary gear": (
        """mechanism planetary ;
        param Js = 1 kg*m^2, Jp = 0.1 kg*m^2, Jc = 2 kg*m^2, m = 1 kg, rs = 0.1 m, rp = 0.05 m ;
        let sun = body mass = 0, centre = 0, inertia = diag(0, 0, Js) end ;
        let carrier = body mass = 0, centre = 0, inertia = diag(0, 0, Jc) end ;
        let planet = body mass = m, centre = 0, inertia = diag(0, 0, Jp) end ;
        join earth and sun.frame as a with revolute(s) torque = tau1(t) end ;
        join earth and carrier.frame as b with revolute(c) torque = -tau2(t) end ;
        join [rs + rp, 0, 0] @ carrier and planet.frame as d with revolute(p) end ;
        constrain rs*(s - c) + rp*p = 0 as sun_mesh ;
        constrain 0 = rp*p - (rs + 2*rp)*c as ring_mesh ;
        law tau1(t) in N*m ; law tau2(t) in N*m ;""",
        [
            "Js*s'' - tau1(t) - rs*lambda_sun_mesh",
            "(Jc + Jp + m*(rs+rp)^2)*c'' + Jp*p'' + tau2(t) + rs*lambda_sun_mesh - (rs + 2*rp)*lambda_ring_mesh",
            "Jp*(p'' + c'') - rp*lambda_sun_mesh + rp*lambda_ring_mesh",
            "rs*(s - c) + rp*p",
            "rs*(s' - c') + rp*p'",
            "rp*p - (rs + 2*rp)*c",
            "rp*p' - (rs + 2*rp)*c'",
        ],
    ),
    "top on a smooth table": (
        """mechanism sliding_top ;
        param g = 9.81 m/s^2, m = 1 kg, l = 0.1 m, A = 0.02 kg*m^2, C = 0.01 kg*m^2 ;
        gravity = [0, 0, -g] ;
        let top = body mass = m, centre = 0, inertia = diag(A, A, C) end ;
        join earth and top.frame as tip with link(x, y, psi, theta, phi) dof1 = [x, y, 0],
            dof2 = l*cos(theta) along [0, 0, 1], dof3 = psi || [0, 0, 1], dof4 = theta || [1, 0, 0],
            dof5 = phi || [0, 0, 1] end ;
        init theta = 0.3 rad ;""",
        [
            "x''",
            "y''",
            "(A*sin(theta)^2 + C*cos(theta)^2)*psi'' + C*phi''*cos(theta)"
            " + 2*(A-C)*psi'*theta'*sin(theta)*cos(theta) - C*phi'*theta'*sin(theta)",
            "(A + m*l^2*sin(theta)^2)*theta'' + m*l^2*theta'^2*sin(theta)*cos(theta)"
            " + (C-A)*psi'^2*sin(theta)*cos(theta) + C*phi'*psi'*sin(theta) - m*g*l*sin(theta)",
            "phi'' + psi''*cos(theta) - psi'*theta'*sin(theta)",
        ],
    ),
    "particle on a paraboloid": (
        """mechanism paraboloid ;
        param g = 9.81 m/s^2, m = 1 kg, a = 1 1/m ;
        gravity = [0, 0, -g] ;
        let p = body mass = m, centre = 0, inertia = 0 end ;
        join earth and p.frame as cyl with link(phi, r) dof1 = phi || [0, 0, 1], dof2 = [r, 0, a*r^2] end ;
        init r = 1 m ;""",
        [
            "r*phi'' + 2*r'*phi'",
            "(1 + 4*a^2*r^2)*r'' + 4*a^2*r*r'^2 - r*phi'^2 + 2*g*a*r",
        ],
    ),
    "orbit": (
        """mechanism orbit ;
        param G = 6.67e-11 m^3/kg/s^2, M = 6e24 kg, m = 1 kg ;
        let moon = body mass = m, centre = 0, inertia = 0 end ;
        join earth and moon.frame as orbit with link(phi, r) dof1 = phi || [0, 0, 1],
            dof2 = [r, 0, 0] force(r) = -G*M*m/r^2 end ;
        init r = 7000 km ;""",
        ["r*phi'' + 2*r'*phi'", "r'' - r*phi'^2 + G*M/r^2"],
    ),
    "trebuchet": (
        """mechanism trebuchet ;
        param g = 9.81 m/s^2, M = 100 kg, m = 1 kg, a = 1 m, b = 4 m, h = 1 m, l = 3 m, J = 20 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let beam = body mass = 0, centre = 0, inertia = diag(0, 0, J) end ;
        let weight = body mass = M, centre = [0, -h, 0], inertia = 0 end ;
        let stone = body mass = m, centre = [l, 0, 0], inertia = 0 end ;
        join earth and beam.frame as pivot with revolute(theta) end ;
        join [-a, 0, 0] @ beam and weight.frame as hanger with link(phi) dof1 = phi - theta || [0, 0, 1] end ;
        join [b, 0, 0] @ beam and stone.frame as sling with link(psi) dof1 = psi - theta || [0, 0, 1] end ;""",
        [
            "(J + M*a^2 + m*b^2)*theta'' - M*a*h*phi''*sin(phi-theta) - M*a*h*phi'^2*cos(phi-theta)"
            " + m*b*l*psi''*cos(psi-theta) - m*b*l*psi'^2*sin(psi-theta) + (m*b - M*a)*g*cos(theta)",
            "h*phi'' - a*theta''*sin(phi-theta) + a*theta'^2*cos(phi-theta) + g*sin(phi)",
            "l*psi'' + b*theta''*cos(psi-theta) + b*theta'^2*sin(psi-theta) + g*cos(psi)",
        ],
    ),
    "robot on two wheels": (
        """mechanism two_wheels ;
        param g = 9.81 m/s^2, M = 1 kg, m = 0.1 kg, r = 0.05 m, l = 0.2 m, Jw = 1e-4 kg*m^2, J = 0.01 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let wheel = body mass = m, centre = 0, inertia = diag(0, 0, Jw) end ;
        let robot = body mass = M, centre = [0, l, 0], inertia = diag(0, 0, J) end ;
        join earth and wheel.frame as road with link(phi) dof1 = [r*phi, 0, 0], dof2 = -phi || [0, 0, 1] end ;
        join wheel.frame and robot.frame as hip with link(theta) dof1 = phi - theta || [0, 0, 1] end ;
        apply torque [0, 0, -tau(t)] on wheel ;
        apply torque [0, 0, tau(t)] on robot ;
        law tau(t) in N*m ;""",
        [
            "(Jw + (M+m)*r^2)*phi'' + M*r*l*(theta''*cos(theta) - theta'^2*sin(theta)) - tau(t)",
            "(J + M*l^2)*theta'' + M*r*l*phi''*cos(theta) - M*g*l*sin(theta) + tau(t)",
        ],
    ),
    "rod in a bowl": (
        """mechanism rod_bowl ;
        param g = 9.81 m/s^2, m = 1 kg, R = 1 m, a = 0.5 m, J = 0.1 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let rod = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        join earth and rod.frame as free with planar(x, y, phi) end ;
        constrain distance [-a, 0, 0] @ rod to earth = R as left ;
        constrain distance [a, 0, 0] @ rod to earth = R as right ;
        init y = -0.8660254037844386 m ;""",
        [
            "m*x'' + (lambda_left*(x - a*cos(phi)) + lambda_right*(x + a*cos(phi)))/R",
            "m*(y'' + g) + (lambda_left*(y - a*sin(phi)) + lambda_right*(y + a*sin(phi)))/R",
            "J*phi'' + a*(lambda_left - lambda_right)*(x*sin(phi) - y*cos(phi))/R",
            "x^2 + y^2 + a^2 - 2*a*(x*cos(phi) + y*sin(phi)) - R^2",
            "x*x' + y*y' - a*(x'*cos(phi) + y'*sin(phi) - (x*sin(phi) - y*cos(phi))*phi')",
            "x^2 + y^2 + a^2 + 2*a*(x*cos(phi) + y*sin(phi)) - R^2",
            "x*x' + y*y' + a*(x'*cos(phi) + y'*sin(phi) - (x*sin(phi) - y*cos(phi))*phi')",
        ],
    ),
    "polar robot": (
        """mechanism polar_robot ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, l1 = 0.5 m, I1 = 0.1 kg*m^2, I2 = 0.1 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let arm = body mass = m1, centre = [l1, 0, 0], inertia = diag(0, 0, I1) end ;
        let slide = body mass = m2, centre = 0, inertia = diag(0, 0, I2) end ;
        join earth and arm.frame as j1 with revolute(theta) torque = tau(t) end ;
        join arm.frame and slide.frame as j2 with prismatic(d) along [1, 0, 0] force = F(t) end ;
        law tau(t) in N*m ; law F(t) in N ;
        init d = 1 m ;""",
        [
            "(m1*l1^2 + I1 + I2 + m2*d^2)*theta'' + 2*m2*d*d'*theta' + (m1*l1 + m2*d)*g*cos(theta) - tau(t)",
            "m2*d'' - m2*d*theta'^2 + m2*g*sin(theta) - F(t)",
        ],
    ),
    "elbow arm": (
        """mechanism elbow ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, l1 = 1 m, l2 = 1 m ;
        gravity = [0, 0, -g] ;
        let base = body mass = 0, centre = 0, inertia = 0 end ;
        let upper = body mass = m1, centre = [l1, 0, 0], inertia = 0 end ;
        let fore = body mass = m2, centre = [l2, 0, 0], inertia = 0 end ;
        join earth and base.frame as waist with revolute(q1) about [0, 0, 1] end ;
        join base.frame and upper.frame as shoulder with revolute(q2) about [0, -1, 0] end ;
        join [l1, 0, 0] @ upper and fore.frame as elbow with revolute(q3) about [0, -1, 0] end ;""",
        [
            "(m1+m2)*l1^2*q1''*cos(q2)^2 + m2*l2^2*q1''*cos(q2+q3)^2 + 2*m2*l1*l2*q1''*cos(q2)*cos(q2+q3)"
            " - 2*(m1+m2)*l1^2*q1'*q2'*sin(q2)*cos(q2) - 2*m2*l2^2*q1'*(q2'+q3')*sin(q2+q3)*cos(q2+q3)"
            " - 2*m2*l1*l2*q1'*q2'*sin(2*q2+q3) - 2*m2*l1*l2*q1'*q3'*cos(q2)*sin(q2+q3)",
            "(m1+m2)*l1^2*q2'' + m2*l2^2*(q2''+q3'') + m2*l1*l2*(2*q2''+q3'')*cos(q3)"
            " + (m1+m2)*l1^2*q1'^2*sin(q2)*cos(q2) + m2*l2^2*q1'^2*sin(q2+q3)*cos(q2+q3)"
            " + m2*l1*l2*q1'^2*sin(2*q2+q3) - m2*l1*l2*q3'*(2*q2'+q3')*sin(q3) + (m1+m2)*g*l1*cos(q2)"
            " + m2*g*l2*cos(q2+q3)",
            "l2*(q2''+q3'') + l1*q2''*cos(q3) + l1*q2'^2*sin(q3) + l2*q1'^2*sin(q2+q3)*cos(q2+q3)"
            " + l1*q1'^2*cos(q2)*sin(q2+q3) + g*cos(q2+q3)",
        ],
    ),
    "satellite in yaw, pitch and roll": (
        """mechanism satellite ;
        param A = 1 kg*m^2, B = 2 kg*m^2, C = 3 kg*m^2 ;
        let craft = body mass = 0, centre = 0, inertia = diag(A, B, C) end ;
        join earth and craft.frame as attitude with spherical(psi, theta, phi) angles zyx end ;""",
        [
            "(A*sin(theta)^2 + (B*sin(phi)^2 + C*cos(phi)^2)*cos(theta)^2)*psi'' - A*phi''*sin(theta)"
            " + (B-C)*theta''*sin(phi)*cos(phi)*cos(theta) + 2*(A - B*sin(phi)^2 - C*cos(phi)^2)*psi'*theta'"
            "*sin(theta)*cos(theta) + 2*(B-C)*phi'*psi'*sin(phi)*cos(phi)*cos(theta)^2 - A*phi'*theta'*cos(theta)"
            " + (B-C)*phi'*theta'*(cos(phi)^2 - sin(phi)^2)*cos(theta) - (B-C)*theta'^2*sin(phi)*cos(phi)*sin(theta)",
            "(B*cos(phi)^2 + C*sin(phi)^2)*theta'' + (B-C)*psi''*sin(phi)*cos(phi)*cos(theta) + A*phi'*psi'*cos(theta)"
            " + (B-C)*phi'*psi'*(cos(phi)^2 - sin(phi)^2)*cos(theta) - 2*(B-C)*phi'*theta'*sin(phi)*cos(phi)"
            " - (A - B*sin(phi)^2 - C*cos(phi)^2)*psi'^2*sin(theta)*cos(theta)",
            "A*(phi'' - psi''*sin(theta) - psi'*theta'*cos(theta)) - (B-C)*(theta'*cos(phi) + psi'*sin(phi)*cos(theta))"
            "*(psi'*cos(phi)*cos(theta) - theta'*sin(phi))",
        ],
    ),
    "car with linear tyres": (
        """mechanism bicycle_model ;
        param m = 1200 kg, J = 1500 kg*m^2, a = 1.2 m, b = 1.4 m, Cf = 50 kN/rad, Cr = 60 kN/rad ;
        let car = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        join earth and car.frame as road with planar(x, y, psi) speeds u, v = velocity in car, r = psi' end ;
        apply force [0, -Cf*(v + a*r)/u + F(t), 0] in car on [a, 0, 0] @ car ;
        apply force [0, -Cr*(v - b*r)/u, 0] in car on [-b, 0, 0] @ car ;
        law F(t) in N ;
        init u = 20 m/s ;""",
        [
            "u' - v*r",
            "m*(v' + u*r) + (Cf+Cr)*v/u + (a*Cf - b*Cr)*r/u - F(t)",
            "J*r' + (a*Cf - b*Cr)*v/u + (a^2*Cf + b^2*Cr)*r/u - a*F(t)",
        ],
    ),
}
