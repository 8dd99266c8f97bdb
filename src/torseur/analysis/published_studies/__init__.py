"""Studies of the source documents: sensitivities (Sandel 2007), a closed-loop suspension, the human body (Monnet 2007).

Each module computes what its page in docs/ shows: oscillator, double_pendulum, vehicle, suspension, upper_limb,
shoulder_moment.
"""
