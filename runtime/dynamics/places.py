"""Parts of an evaluation that are compiled apart, when they are first needed: their places in ``Workspace.address``."""

from __future__ import annotations

# Places of the addresses of the parts: the evaluation; joint by joint; limits; contacts; rows of the joints; factors of S;
# least correction; projection of a state onto the rows; forces; normal loads of joints; energies; loads and motors; the
# correction for thin bodies; the states of the bodies of a tree; its equations with forces on bodies; the space of the rows;
# angles whose revolutions are counted.
PLACES = (
    EVALUATION, GENERAL, LIMITS, CONTACTS, KINEMATICS, FACTORS, CORRECTION, PROJECTION, ELEMENTS, JOINT_LOADS, ENERGY,
    APPLIED, THIN, LIFT, TREE, ROW_SPACE, ANGLES,
) = range(17)  # fmt: skip
WHOLE = 17  # the address of the whole-model kernel, 0 if there is none
AFTERWARDS = 18  # of what follows an accepted step, 0 where nothing does
ADDRESSES = 19
