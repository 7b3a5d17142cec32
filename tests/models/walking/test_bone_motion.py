"""Poses of two bones from files: columns and fields, units, frames in which a bone is not seen, and files that are refused."""

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.transform import Rotation

from models.walking import read_bones
from tests.support.refusals import assert_refused

N = 30
RNG = np.random.default_rng(5)
TIBIA, CALCANEUS = Rotation.random(N, random_state=1), Rotation.random(N, random_state=2)
AT, OF = RNG.normal(0.0, 0.1, (N, 3)), RNG.normal(0.0, 0.1, (N, 3))  # [m]
EXPECTED_A = (TIBIA.inv() * CALCANEUS).as_matrix()
EXPECTED_R = TIBIA.inv().apply(OF - AT)


def transforms(turns, places):
    T = np.tile(np.eye(4), (N, 1, 1))
    T[:, :3, :3], T[:, :3, 3] = turns.as_matrix(), places
    return T


def csv(file, columns, comment="# units: mm\n"):
    rows = np.column_stack([np.asarray(values).reshape(N, -1) for values in columns.values()])
    names = ",".join(name for names in columns for name in names.split())
    file.write_text(comment + names + "\n" + "\n".join(",".join(f"{x:.12g}" for x in row) for row in rows) + "\n")
    return file


def quaternions(bone):
    return " ".join(f"{bone}_{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz"))


def pose(turns, places):
    return np.column_stack([1e3 * places, turns.as_quat(scalar_first=True)])


def assert_expected(motion, frames=slice(None)):
    assert motion.A == pytest.approx(EXPECTED_A[frames], abs=1e-9)
    assert motion.r == pytest.approx(EXPECTED_R[frames], abs=1e-9)


def test_quaternions_and_positions(tmp_path):
    file = csv(
        tmp_path / "walk.csv", {quaternions("tibia"): pose(TIBIA, AT), quaternions("calcaneus"): pose(CALCANEUS, OF)}
    )
    (one,), notes = read_bones(file)
    assert one.name == "walk" and one.missing == 0 and not notes
    assert_expected(one)


@pytest.mark.parametrize("entry", ["{}_r{}{}", "{}_m_{}_{}", "{}{}{}"])
def test_matrices_by_entries(tmp_path, entry):
    columns = {}
    for bone, turns, places in (("tib", TIBIA, AT), ("cal", CALCANEUS, OF)):
        T = transforms(turns, 1e3 * places)
        columns[" ".join(entry.format(bone, i, j) for i in range(1, 4) for j in range(1, 5))] = T[:, :3].reshape(N, 12)
    (one,), _ = read_bones(csv(tmp_path / "walk.csv", columns))
    assert_expected(one)


def test_a_column_of_movements(tmp_path):
    file = csv(
        tmp_path / "all.csv", {quaternions("tibia"): pose(TIBIA, AT), quaternions("calcaneus"): pose(CALCANEUS, OF)}
    )
    comment, header, *rows = file.read_text().splitlines()
    named = [f"{row},{'walk' if k < 12 else 'hop'}" for k, row in enumerate(rows)]
    file.write_text("\n".join([comment, header + ",movement", *named]))
    walk, hop = read_bones(file)[0]
    assert (walk.name, hop.name) == ("walk", "hop")
    assert_expected(walk, slice(0, 12))
    assert_expected(hop, slice(12, None))
    assert [one.name for one in read_bones(file, only="hop")[0]] == ["hop"]
    assert_refused("walk, hop", read_bones, file, only="run")


@pytest.mark.parametrize("last", [True, False])
def test_structures_of_matlab(tmp_path, last):
    """Arrays 4 x 4 x n or n x 4 x 4 in nested structures; other arrays and other bones are no poses of these two."""
    T = {bone: transforms(*of) for bone, of in (("T_tib", (TIBIA, 1e3 * AT)), ("T_cal", (CALCANEUS, 1e3 * OF)))}
    T = {bone: np.moveaxis(value, 0, 2) if last else value for bone, value in T.items()}
    subjects = [{"age": 30.0, "walk": T | {"angles": np.zeros((N, 3))}, "static": {"T_tib": T["T_tib"]}}, {"run": T}]
    file = tmp_path / "people.mat"
    savemat(file, {"data": subjects})
    motions, _ = read_bones(file, units="mm")
    assert [one.name for one in motions] == ["data1.walk", "data2.run"]
    for one in motions:
        assert_expected(one)
    assert [one.name for one in read_bones(file, units="mm", only="data2")[0]] == ["data2.run"]
    assert_refused("give units='mm'", read_bones, file)


def test_clusters_of_markers(tmp_path):
    local = {"T": RNG.normal(0.0, 0.04, (3, 3)), "C": RNG.normal(0.0, 0.04, (3, 3))}
    columns = {"time": np.linspace(0.0, 1.0, N)}
    for name, turns, places in (("T", TIBIA, AT), ("C", CALCANEUS, OF)):
        for k, point in enumerate(local[name]):
            columns[f"{name}{k}_x {name}{k}_y {name}{k}_z"] = places + turns.apply(point)
    file = csv(tmp_path / "markers.csv", columns, "# units: m, z up\n")
    (one,), _ = read_bones(file, proximal="T0,T1,T2", distal="C0,C1,C2")
    first = one.A[0].T @ one.A[-1]
    assert Rotation.from_matrix(first).magnitude() == pytest.approx(
        Rotation.from_matrix(EXPECTED_A[0].T @ EXPECTED_A[-1]).magnitude(), abs=1e-6
    )
    assert_refused("of which it has not C9", read_bones, file, proximal="T0,T1,T2", distal="C0,C1,C9")


def test_frames_without_a_bone_are_left_out_and_counted(tmp_path):
    seen = pose(TIBIA, AT)
    seen[3:7] = np.nan
    file = csv(tmp_path / "walk.csv", {quaternions("tibia"): seen, quaternions("calcaneus"): pose(CALCANEUS, OF)})
    (one,), notes = read_bones(file)
    assert one.missing == 4 and len(one.A) == N - 4 and "4 of 30 frames" in notes[0]
    assert_expected(one, np.r_[0:3, 7:N])


def test_poses_that_are_already_in_the_proximal_bone(tmp_path):
    own = {quaternions("calcaneus"): pose(Rotation.from_matrix(EXPECTED_A), EXPECTED_R)}
    file = csv(tmp_path / "walk.csv", own)
    assert_expected(read_bones(file, proximal="none")[0][0])
    assert_refused(("no poses of tibia", "it has calcaneus", "proximal='none'"), read_bones, file)


def test_units(tmp_path):
    own = {quaternions("tibia"): pose(TIBIA, AT), quaternions("calcaneus"): pose(CALCANEUS, OF)}
    file = csv(tmp_path / "walk.csv", own, "")
    assert_refused("unit of the positions is not known", read_bones, file)
    assert_expected(read_bones(file, units="mm")[0][0])
    assert_refused("use 'mm', 'cm' or 'm'", read_bones, file, units="inch")


def test_what_is_no_pose_is_refused(tmp_path):
    skewed = transforms(TIBIA, 1e3 * AT)
    skewed[4, 0, 0] += 0.2
    names = {
        bone: " ".join(f"{bone}_{i}{j}" for i in range(1, 4) for j in range(1, 5)) for bone in ("tibia", "calcaneus")
    }
    calcaneus = transforms(CALCANEUS, 1e3 * OF)[:, :3]
    file = csv(tmp_path / "a.csv", {names["tibia"]: skewed[:, :3], names["calcaneus"]: calcaneus})
    assert_refused(("tibia in frame 5", "limit 0.02"), read_bones, file)
    mirrored = transforms(TIBIA, 1e3 * AT)
    mirrored[:, :3, 0] *= -1.0
    file = csv(tmp_path / "b.csv", {names["tibia"]: mirrored[:, :3], names["calcaneus"]: calcaneus})
    assert_refused("left-handed", read_bones, file)
    long = pose(TIBIA, AT)
    long[2, 3:] *= 1.5
    file = csv(tmp_path / "c.csv", {quaternions("tibia"): long, quaternions("calcaneus"): pose(CALCANEUS, OF)})
    assert_refused(("tibia in frame 3", "length 1.5"), read_bones, file)
    assert_refused("BONE_qw", read_bones, csv(tmp_path / "d.csv", {"time angle": np.zeros((N, 2))}))
    (tmp_path / "e.mat").write_bytes(b"MATLAB 7.3 MAT-file" + bytes(200))
    assert_refused("-v7", read_bones, tmp_path / "e.mat", units="mm")
    assert_refused("no reader", read_bones, tmp_path / "f.txt")


def test_two_names_for_one_bone_are_refused(tmp_path):
    own = {quaternions(bone): pose(TIBIA, AT) for bone in ("tibia_left", "tibia_right", "calcaneus")}
    file = csv(tmp_path / "walk.csv", own)
    assert_refused("may be tibia_left or tibia_right", read_bones, file)
    assert len(read_bones(file, proximal="tibia_left")[0]) == 1
