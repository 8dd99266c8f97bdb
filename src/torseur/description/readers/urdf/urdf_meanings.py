"""What it means for the mechanism that a part of a URDF file is not modelled."""

MEANINGS = {
    "gazebo": "settings of a simulator",
    "transmission": "gears between motors and joints; forces act on the joints directly",
    "ros2_control": "settings of controllers",
    "sensor": "sensors of the robot",
    "safety_controller": "limits kept by a controller",
    "calibration": "marks for calibrating the joint",
    "collision_checking": "contact is not modelled",
    "contact": "contact is not modelled",
    "self_collision_checking": "contact is not modelled",
    "verbose": "a setting of collision checking",
    "texture": "pictures go without textures",
    "loop_joint": "URDF describes trees; write loops in MJCF or in a description of this package",
    "mimic": "only a joint with one coordinate can follow another",
    "axis": "the joint has no axis",
    "limit": "the joint has no single coordinate to limit",
    "dynamics": "the joint has no single coordinate to damp",
    "inertial": "a link has one inertia; the first is used",
    "material": "colours are read where shapes use them",
    "hardwareInterface": "settings of controllers",
}
