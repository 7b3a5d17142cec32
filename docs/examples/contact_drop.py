"""A ball on the ground: laws of the normal force.

The same ball falls from 0.3 m with four laws of contact. Touch-down and lift-off are located within a step, so the flight between
two impacts costs few steps.
"""

import matplotlib.pyplot as plt
import numpy as np

import runtime

laws = {
    "hertz": {},
    "hunt_crossley": {"exponent": 1.5, "loss": 0.2},
    "lankarani_nikravesh": {"exponent": 1.5, "restitution": 0.8},
    "flores": {"exponent": 1.5, "restitution": 0.5},
}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for law, values in laws.items():
    b = runtime.Builder(law)
    b.body("ball", mass=0.4, inertia=(4e-4, 4e-4, 4e-4), r=(0, 0, 0.3), free=True)
    b.contact("ground", "ball", centre=(0, 0, 0), radius=0.05, law=law, stiffness=1e5, **values)
    run = runtime.simulate(b.build(), 1.0, t_eval=np.linspace(0, 1, 1001), rtol=1e-8, atol=1e-8)
    assert run.success, run.message
    ax.plot(run.t, run.r["ball"][:, 2], label=law)
    contact = run.contacts["ground"]
    speed = contact.impact_speed[0]
    print(
        f"{law:20} {len(contact.touch_down)} impacts, the first at {contact.touch_down[0]:.6f} s with {speed:.4f} m/s"
    )
ax.axhline(0.05, color="0.7", lw=0.8)
ax.set(xlabel="time [s]", ylabel="height of the centre [m]")
ax.legend()
figure.savefig("contact_drop.png")
