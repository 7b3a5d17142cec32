"""Vectors of three numbers, matrices of nine (row by row) and symmetric ones of six (their upper half), as tuples.

Compiled code keeps tuples in registers.
"""

from __future__ import annotations

from runtime.jit.compilation import expanded


@expanded
def is_zero(x):  # type: ignore[no-untyped-def]
    """Whether a number is 0: where code for many cases is written, whether it is 0 in all of them."""
    return x == 0.0


@expanded
def dot(a, b):  # type: ignore[no-untyped-def]
    """Product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@expanded
def plus(a, b):  # type: ignore[no-untyped-def]
    """Sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@expanded
def minus(a, b):  # type: ignore[no-untyped-def]
    """Difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@expanded
def plus_times(a, factor, b):  # type: ignore[no-untyped-def]
    """The vector a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@expanded
def cross(a, b):  # type: ignore[no-untyped-def]
    """The cross product of two vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@expanded
def times(A, v):  # type: ignore[no-untyped-def]
    """A v."""
    return (
        A[0] * v[0] + A[1] * v[1] + A[2] * v[2], A[3] * v[0] + A[4] * v[1] + A[5] * v[2],
        A[6] * v[0] + A[7] * v[1] + A[8] * v[2],
    )  # fmt: skip


@expanded
def matrix_product(A, B):  # type: ignore[no-untyped-def]
    """A B."""
    a, b, c, d, e, f, g, h, i = B
    x, y, z = times(A, (a, d, g)), times(A, (b, e, h)), times(A, (c, f, i))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@expanded
def turn_about(axis, cosine, sine):  # type: ignore[no-untyped-def]
    """Rotation matrix of a turn about an axis, by cosine and sine of its angle."""
    x, y, z = axis
    rest = 1.0 - cosine
    return (
        cosine + rest * x * x, rest * x * y - sine * z, rest * x * z + sine * y, rest * x * y + sine * z,
        cosine + rest * y * y, rest * y * z - sine * x, rest * x * z - sine * y, rest * y * z + sine * x,
        cosine + rest * z * z,
    )  # fmt: skip


@expanded
def transposed_times(A, v):  # type: ignore[no-untyped-def]
    """A^T v."""
    return (
        A[0] * v[0] + A[3] * v[1] + A[6] * v[2], A[1] * v[0] + A[4] * v[1] + A[7] * v[2],
        A[2] * v[0] + A[5] * v[1] + A[8] * v[2],
    )  # fmt: skip


@expanded
def times_symmetric(S, v):  # type: ignore[no-untyped-def]
    """S v."""
    return (
        S[0] * v[0] + S[1] * v[1] + S[2] * v[2], S[1] * v[0] + S[3] * v[1] + S[4] * v[2],
        S[2] * v[0] + S[4] * v[1] + S[5] * v[2],
    )  # fmt: skip


@expanded
def less_square(S, a, b):  # type: ignore[no-untyped-def]
    """S less the product a b^T, for vectors of one direction."""
    return (
        S[0] - a[0] * b[0], S[1] - a[0] * b[1], S[2] - a[0] * b[2], S[3] - a[1] * b[1], S[4] - a[1] * b[2],
        S[5] - a[2] * b[2],
    )  # fmt: skip


@expanded
def less_product(A, a, b):  # type: ignore[no-untyped-def]
    """A less the product a b^T."""
    return (
        A[0] - a[0] * b[0], A[1] - a[0] * b[1], A[2] - a[0] * b[2],
        A[3] - a[1] * b[0], A[4] - a[1] * b[1], A[5] - a[1] * b[2],
        A[6] - a[2] * b[0], A[7] - a[2] * b[1], A[8] - a[2] * b[2],
    )  # fmt: skip


@expanded
def add_six(S, T):  # type: ignore[no-untyped-def]
    """Sum of symmetric matrices."""
    return S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5]


@expanded
def add_nine(A, B):  # type: ignore[no-untyped-def]
    """Sum of matrices."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5], A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@expanded
def cross_symmetric(v, S):  # type: ignore[no-untyped-def]
    """The matrix tilde(v) S."""
    x, y, z = v
    return (
        y * S[2] - z * S[1], y * S[4] - z * S[3], y * S[5] - z * S[4],
        z * S[0] - x * S[2], z * S[1] - x * S[4], z * S[2] - x * S[5],
        x * S[1] - y * S[0], x * S[3] - y * S[1], x * S[4] - y * S[2],
    )  # fmt: skip


@expanded
def inverse_of(S):  # type: ignore[no-untyped-def]
    """The inverse of a symmetric matrix; its determinant as a fraction of the product of its diagonal."""
    a, b, c, d, e, f = S
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * A + b * B + c * C
    s = 1.0 / determinant
    inverse = A * s, B * s, C * s, (a * f - c * c) * s, (b * c - a * e) * s, (a * d - b * b) * s
    return inverse, determinant / (a * d * f)
