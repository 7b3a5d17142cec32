"""Proofs of misprints, as the registry's entries state them."""

WRONG_SIGN = (
    "Phi_4'' holds - s_j^T ~omega_i s_i^P' (Eq. (31)), and gamma is minus what Phi'' holds beside D v', so the term is "
    "positive, as the same term is in row 3. The printed row is too small by 2 s_j^T ~omega_i s_i^P', on the constraint "
    "manifold as well as off it; it is right only where that vanishes, such as for a body i that does not turn."
)
NU = "As transcribed, v stands for nu: the left side is the velocity right-hand side, of as many rows as Phi."
OTHER_PHI = (
    NU + " And the partial derivative is that of Phi^(theta,1); the printed one names a constraint of no equation."
)
FIRST_RATE = (
    "Phi'' = r_i'' - ~s omega_i' + ~omega_i ~omega_i s - c*'', and ~omega_i ~omega_i s = -~omega_i ~s omega_i: beside D v' "
    "stands c*'', not c*'. The units differ too, m/s among m/s^2. All rows fail, on the manifold and off it, by c*'' - c*'; the "
    "printed form is right only for a point that is to rest."
)
COSINE_RATES = (
    "Phi'' = b^T a'' + 2 a'^T b' + a^T b'' - (cos theta)'', with (cos theta)'' = -cos(theta) theta'^2 - sin(theta) theta''. So "
    "~b_j (3 x 3) stands for b_j', by which the sum is a row of three in place of a number, and the first theta'' for theta'^2; "
    "each alone fails on the manifold and off it. With b_j' put right, it fails by cos(theta) (theta'' - theta'^2), at rest too."
)
CONSTANT_LENGTH = (
    "Phi' = (a_i^T d_p)' / n - a_i^T d_p n' / n^2 + sin(beta) beta', n = ||d_p||; the second term is missing, as if n were "
    "constant. n n' = 1/2 (d^T d)' - (d^T s_i) (s_i^T d)', so what is missing is a sum of rows 1 and 3 of the modified universal "
    "joint. Beside that joint, accelerations, forces and the driver's multiplier are right all the same (gamma: where rows 1 and "
    "3 hold as velocities), and only the multipliers of rows 1 and 3 are others; without it, nothing is right. "
)
LINK_D = (
    CONSTANT_LENGTH
    + "And d_p^T s_i ~s_i vanishes; d^T s_i ~s_i must stand there, from -(d^T s_i) s_i' in Eq. (23), as in "
    "Rodrigues da Silva et al. (2024c), Eq. (20). "
    "This is no matter of the joint's rows: the printed row resists even a common turn of both bodies. (The d_p^T ~s_i before it "
    "is d^T ~s_i.) Right only where d is perpendicular to s_i and a_i to d_p (beta = 90 degrees), on the manifold and off it."
)
LINK_GAMMA = (
    CONSTANT_LENGTH
    + "The bracket is -d_p'', from Eq. (23), with six slips: 2 d_p^T a_i' for 2 d_p'^T a_i'; d^T s_i' s_i for d'^T s_i' s_i; "
    "s_i^T ~omega_i s_i^P' without s_i after it, a number among vectors; twice s_i^T d' s_i for s_i^T d' s_i'; 2 d^T s_i' s_i "
    "for 2 d^T s_i' s_i'. Of these, only the second does no harm while a_i is perpendicular to s_i. The last three do no harm "
    "together where s_i^T d is constant, as row 3 of the joint has it: the correct terms are 2 (s_i^T d' + d^T s_i') a_i^T s_i', "
    "the printed ones the same number times a_i^T s_i, and the number is (s_i^T d)'. Each of the three, and any two, "
    "fail there, and off the manifold all of them together. Right where both bodies are "
    "at rest and, but for the length of d_p, where body i is; on the manifold and off it alike."
)
GYROSCOPIC = "g holds the gyroscopic torque -omega x J omega beside what is applied; the text does not mention it."
ATAN2 = (
    "The four-quadrant arc tangent, plus 2 pi where it is negative, as the text of Rodrigues da Silva et al. (2024b) says "
    "below Eq. (6)."
)
TWICE = (
    "sigma = sqrt(x^2 + y^2) has the slope (x x' + y y') / sigma: no factor 2 before y y'. Shown against the derivative of the "
    "generated curve, which a circle in the complex plane confirms (test_limit_kernels)."
)
WRONG_AXES = (
    "Eq. (5) is meant. Step 6.3 gives the moment in the axes of the joint, m''; Eq. (3), u = A_k u', leads from the axes of a "
    "body to the global ones, and A_i m'' lacks B_h. It fails with either body, and is right only where B_h is the identity: "
    "where the axes of the joint are those of the body."
)
NO_ANGLE = (
    "The three sides of the chain differ: at the nearest point the vector d'' of Eq. (30) has the length sin(delta), while the "
    "root is the distance in the top view, which is delta only where A and B have the same longitude (a regular cone). The "
    "relative angle, whose gradient is -n, is delta = atan2(|u x t|, u . t); with the printed root the moment has no potential."
)
PRINTED_LAW = (
    "The direction and the law as printed, with the planar kappa of Eq. (33); the size of u x n is cos(delta), not 1. "
    "What the runtime does by the name law='as_published'."
)
UNIT_PROJECTION = (
    "Eq. (8) divides the projected link by its length. Eqs. (9), (10) and (12) need that; here the vector must keep the length "
    "of the projection: by virtual work the transfer is then that of a torque on the hinge, else not (test_link_transfer)."
)
LINK_FORCE = "The size of the force is that of Eq. (14), corrected; the direction does not depend on the length of u_p."
RATE_SIGN = (
    UNIT_PROJECTION
    + " The corrected quotient is -phi', the rate about s_i where the turn from u_p to a_i is positive about s_i, only while the "
    "length n of the projected link is constant, as it is where rows 1 and 3 of the joint hold as velocities. From a_i^T u_p = "
    "n cos(phi) it is -phi' + cot(phi) n' / n; off the manifold the second term has any size, and it vanishes only at phi = 90 "
    "degrees (test_rate_of_the_link). And the quotient is 0 / 0 at phi = 0 and pi, where the hinge's rate is defined."
)
