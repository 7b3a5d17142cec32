"""The foot and the chain in Pinocchio: trees, its articulated-body algorithm in C++, compiled with the headers of its wheel."""

from __future__ import annotations

import ctypes
import sys
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import reduced_foot
from benchmarks.peers.interface import TREE, Chain, Chained, Foot, MissingError, Prepared, Repeated
from benchmarks.peers.native import Native, compiler, pointer

NAME, DISTRIBUTION, METHOD, INPUT = "Pinocchio", "pin", "C++, DOP853", TREE
KNOB, LADDER, SHOWN = "tolerance", [10.0 ** (-k / 20) for k in range(80, 281)], [10.0**-k for k in range(5, 15)]
MAX_LINKS, REASON = 100, "its data hold arrays of (3 N)^3 numbers"

# One library for both models, because its compilation takes a minute.
_SOURCE = """
#include <pinocchio/algorithm/aba.hpp>
namespace p = pinocchio;
typedef Eigen::Vector3d V;
typedef Eigen::Matrix3d M;
static p::Model model;
static p::Data *data;
static Eigen::VectorXd tau, q, v;
static V take(const double *&from) { V found(from[0], from[1], from[2]); from += 3; return found; }
static void start() {
  data = new p::Data(model);
  tau = v = Eigen::VectorXd::Zero(model.nv);
  q = Eigen::VectorXd::Zero(model.nq);
}
// gravity, place and axis of both hinges, mass, centre of mass, inertia
extern "C" void make_foot(const double *of) {
  model = p::Model();
  model.gravity.linear(take(of));
  p::JointIndex last = 0;
  for (int n = 0; n < 2; ++n) {
    V place = take(of), axis = take(of);
    last = model.addJoint(last, p::JointModelRevoluteUnaligned(axis), p::SE3(M::Identity(), place), "joint" + std::to_string(n));
  }
  double mass = *of++;
  V centre = take(of);
  M inertia;
  inertia << of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8];
  model.appendBodyToJoint(last, p::Inertia(mass, centre, inertia), p::SE3::Identity());
  start();
}
static void derivative(const double *x, double *dx) {
  q << x[0], x[1];
  v << x[2], x[3];
  p::aba(model, *data, q, v, tau, p::Convention::LOCAL);
  dx[0] = x[2]; dx[1] = x[3]; dx[2] = data->ddq[0]; dx[3] = data->ddq[1];
}
extern "C" void make_chain(long links, double length, double mass, const double *of) {
  model = p::Model();
  model.gravity.linear(take(of));
  V inertia = take(of);
  p::JointIndex last = 0;
  for (long n = 0; n < links; ++n) {
    last = model.addJoint(last, p::JointModelSpherical(), p::SE3(M::Identity(), V(n ? length : 0.0, 0, 0)), "joint" + std::to_string(n));
    model.appendBodyToJoint(last, p::Inertia(mass, V(length / 2, 0, 0), M(inertia.asDiagonal())), p::SE3::Identity());
  }
  start();
  for (long n = 0; n < links; ++n) q[4 * n + 3] = 1.0;
}
extern "C" void repeat_chain(double *accelerations, long times) {
  for (long n = 0; n < times; ++n) {
    p::aba(model, *data, q, v, tau, p::Convention::LOCAL);
    v[0] += 1e-30 * data->ddq[0];
  }
  for (long n = 0; n < model.nv; ++n) accelerations[n] = data->ddq[n];
}
"""  # noqa: E501


def _flags() -> list[str]:
    """Flags with the folders of the headers; Eigen's come with the distributions ``cmeel-eigen`` or ``casadi``."""
    places = [Path(p) / "cmeel.prefix" / "include" for p in sys.path if p.endswith("site-packages")]
    here = next((place for place in places if (place / "pinocchio").is_dir()), None)
    if here is None:
        raise MissingError("the C++ headers of pin are not in the folder in which its wheel installs them")
    casadi = util.find_spec("casadi")
    eigen = [here / "eigen3"] + ([Path(casadi.origin).parent / "include/eigen3"] if casadi and casadi.origin else [])
    for folder in eigen:
        if (folder / "Eigen" / "Dense").is_file():
            limits = ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
            return [f"-I{here}", f"-I{folder}", "-DNDEBUG", *limits]
    raise MissingError("Eigen is not installed; install it with: pip install cmeel-eigen")


def check() -> None:
    """Check that the compiler and the headers are installed."""
    compiler()
    _flags()


def _native() -> Native:
    return Native(_SOURCE, np.zeros(4), _flags())


def _foot(foot: Foot) -> Native:
    native = _native()
    mass, centre, inertia = foot.welded()
    data: list[Any] = [
        foot.gravity, foot.talocrural, foot.talocrural_axis, np.subtract(foot.talocalcaneal, foot.talocrural),
        foot.talocalcaneal_axis, [mass], centre - foot.talocalcaneal, inertia.ravel(),
    ]  # fmt: skip
    native.library.make_foot(pointer(np.concatenate(data)))
    return native


def prepare(foot: Foot, end: float, setting: float, outputs: int) -> Prepared:
    """DOP853 around ``pinocchio::aba``."""
    return _foot(foot).prepare(end, setting, lambda x: reduced_foot.positions(foot, x[:, 0], x[:, 1]))


def evaluation(foot: Foot) -> Repeated:
    """``pinocchio::aba`` in a loop."""
    return _foot(foot).repeated(100_000)


def chain(chain: Chain) -> Chained:
    """Ball joints with quaternions; ``pinocchio::aba`` in a loop."""
    library, number = _native().library, ctypes.c_double
    data = np.array([*chain.gravity, *chain.inertia])
    library.make_chain(ctypes.c_long(chain.links), number(chain.length), number(chain.mass), pointer(data))
    accelerations, times = np.empty(3 * chain.links), max(3, 30_000 // chain.links)
    library.repeat_chain(pointer(accelerations), ctypes.c_long(1))
    angular_accelerations = np.cumsum(accelerations[1::3])
    return Chained(
        Repeated(lambda: library.repeat_chain(pointer(accelerations), ctypes.c_long(times)), times),
        angular_accelerations,
    )
