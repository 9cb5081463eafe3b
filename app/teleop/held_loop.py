"""The bilateral loop as an operator's arm holds it, from the parameters."""

from app.config.teleop import TeleopParameters
from app.teleop.limits import Contact, Loop, safe_force_share
from models.human_arm import GRIPS, ArmGrip

__all__ = ["held_loop", "shown_share", "stiffest_contact"]


def held_loop(parameters: TeleopParameters, grip: ArmGrip) -> Loop:
    """Return the linear loop along x with the handle held by an arm."""
    return Loop(
        hand_mass=parameters.handle.mass_kg + grip.mass,
        hand_damping=parameters.handle.damping_n_s_per_m + grip.damping,
        hand_stiffness=grip.stiffness,
        tip_mass=parameters.tip.mass_kg,
        tip_damping=parameters.tip.damping_n_s_per_m,
        stiffness=parameters.stiffness_n_per_m[0],
        damping=parameters.damping_n_s_per_m[0],
    )


def stiffest_contact(parameters: TeleopParameters) -> Contact:
    """Return the stiffest contact that is to be touched."""
    return Contact(
        parameters.force.contact_stiffness_n_per_m,
        parameters.force.contact_damping_n_s_per_m,
    )


def shown_share(parameters: TeleopParameters) -> float:
    """Return k_f of position-force: as given, or the safe one for a relaxed grip."""
    if not parameters.force.auto:
        return parameters.force.share
    loop = held_loop(parameters, GRIPS["relaxed"])
    return min(
        parameters.force.share, safe_force_share(loop, stiffest_contact(parameters))
    )
