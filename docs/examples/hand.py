"""Hand tracking: the residuals HAND of ADBench (Šrajer, Kukelova & Fitzgibbon 2018), and a pose by Gauss–Newton.

A mesh of a hand follows its bones: a vertex is the mean of where the bones take it, by weights. A finger is a chain of
four bones behind the wrist, and five fingers are lanes. Points are seen at vertices, or anywhere on triangles.

    python docs/examples/hand.py FOLDER FILE
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np
from attrs import frozen

import hilbert.all as hb


class Vertex(hb.Axis):
    """The vertices of the mesh."""


class Seen(hb.Axis):
    """The points that are seen."""


class Axis(hb.Axis, size=3):
    """The three coordinates of space."""


class Home(hb.Axis, size=4):
    """The three coordinates behind a bone, and 1."""


class Finger(hb.Axis, size=5):
    """From thumb to little finger."""


class Joint(hb.Axis, size=4):
    """The bones of a finger, from the wrist on."""


class Bend(hb.Axis, size=4):
    """Its angles: the second bone's x and y, the third's x, the fourth's x."""


class Corner(hb.Axis, size=2):
    """The first two weights of a point on a triangle."""


axis, home = Axis.set, Home.set
Space, Square, Turn = hb.R**axis, hb.R ** (home * home), hb.R ** (axis * axis)
Frame: TypeAlias = hb.Matrix[Axis, Home]
Skin: TypeAlias = hb.Matrix[Vertex, Home]
Mesh: TypeAlias = hb.Matrix[Vertex, Axis]
Points: TypeAlias = hb.Copower[hb.Vector[Axis], hb.Fin[Seen]]
Weights: TypeAlias = hb.Copower[hb.Vector[Corner], hb.Fin[Seen]]


class Limb(hb.Record):
    """A finger: how each bone lies behind the one before, and the skin as each bone sees it, times its weight."""

    behind: hb.Part[hb.Copower[hb.Matrix[Home, Home], hb.Fin[Joint]]]
    skin: hb.Part[hb.Copower[Skin, hb.Fin[Joint]]]


class Pose(hb.Record):
    """A turn and a shift of the whole hand, and the angles of its fingers."""

    rotation: hb.Part[hb.Vector[Axis]]
    translation: hb.Part[hb.Vector[Axis]]
    bends: hb.Part[hb.Copower[hb.Vector[Bend], hb.Fin[Finger]]]


POSE = Pose.space()
UNIT = Turn.vec(np.eye(3))
CROSS = (hb.R ** (axis * axis * axis)).vec(np.cross(np.eye(3)[:, None], np.eye(3)).transpose(2, 0, 1))
REST_X, COS_X, SIN_X = (
    Square.vec(np.diag([1.0, 0.0, 0.0, 1.0])),
    Square.vec(np.diag([0.0, 1.0, 1.0, 0.0])),
    Square.vec(np.eye(4)[[0, 2, 1, 3]] * [0, 1, -1, 0]),
)
REST_Y, COS_Y, SIN_Y = (
    Square.vec(np.diag([0.0, 1.0, 0.0, 1.0])),
    Square.vec(np.diag([1.0, 0.0, 1.0, 0.0])),
    Square.vec(np.eye(4)[[2, 1, 0, 3]] * [-1, 0, 1, 0]),
)


@frozen
class Hand:
    """The parts that do not move: the wrist, its skin and that of the forearm, and the fingers."""

    wrist: hb.Vec[Frame]
    still: hb.Vec[Mesh]
    limbs: hb.Vec[hb.Copower[Limb, hb.Fin[Finger]]]
    triangles: np.ndarray


def about_x(a: hb.Expr[hb.Scalar]) -> hb.Expr[hb.Matrix[Home, Home]]:
    """A turn around the first axis."""
    return REST_X + hb.cos(a) * COS_X + hb.sin(a) * SIN_X


def about_y(a: hb.Expr[hb.Scalar]) -> hb.Expr[hb.Matrix[Home, Home]]:
    """A turn around the second axis."""
    return REST_Y + hb.cos(a) * COS_Y + hb.sin(a) * SIN_Y


def rotation(r: hb.Expr[hb.Vector[Axis]]) -> hb.Expr[hb.Matrix[Axis, Axis]]:
    """The turn around r by the angle ‖r‖ (Rodrigues)."""

    def cross(u: hb.Expr[hb.Vector[Axis]]) -> hb.Expr[hb.Matrix[Axis, Axis]]:
        return hb.contract("abc,b->ac", CROSS, u, to=Turn)

    def rodrigues() -> hb.Expr[hb.Matrix[Axis, Axis]]:
        angle = r.norm()
        u = cross(r / angle)
        return UNIT + hb.sin(angle) * u + (1.0 - hb.cos(angle)) * (u @ u)

    return hb.where(r @ r > 0.0, rodrigues, lambda: UNIT + cross(r))


def mesh(hand: Hand, p: hb.Expr[Pose]) -> hb.Expr[Mesh]:
    """The places of the vertices: those that each finger moves, then the turn and the shift of all."""

    def moved(limb: hb.Expr[Limb], b: hb.Expr[hb.Vector[Bend]]) -> hb.Expr[Mesh]:
        behind, skin = limb[Limb.behind], limb[Limb.skin]
        first = hand.wrist @ behind[0]
        second = first @ behind[1] @ about_y(b[1]) @ about_x(b[0])
        third = second @ behind[2] @ about_x(b[2])
        fourth = third @ behind[3] @ about_x(b[3])
        bones = enumerate((second, third, fourth), 1)
        return sum((skin[k] @ bone.T for k, bone in bones), skin[0] @ first.T)

    fingers = hb.each(moved, hb.const(hand.limbs), p[Pose.bends])
    turned = (hand.still + fingers.sum(over=Finger.set)) @ rotation(p[Pose.rotation]).T
    return turned + p[Pose.translation].rep(turned.space)


def at_vertices(hand: Hand, who: np.ndarray, targets: np.ndarray) -> hb.Map[Pose, Points]:
    """target − vertex, for points seen at vertices."""
    seen, measured = Seen.of(len(who)), (Space ** Seen.of(len(who))).vec(targets)
    place = hb.gather(who, vertices(hand), Space, rows=seen)

    @hb.fun(POSE)
    def f(p: hb.Expr[Pose]) -> hb.Expr[Points]:
        return measured - place(mesh(hand, p).rows())

    return f


def on_triangles(hand: Hand, which: np.ndarray, targets: np.ndarray) -> hb.Map[hb.DirectSum[Pose, Weights], Points]:
    """target − (u₀·a + u₁·b + (1 − u₀ − u₁)·c), for points seen on triangles abc."""
    seen, measured = Seen.of(len(which)), (Space ** Seen.of(len(which))).vec(targets)
    ends = hand.triangles[which].T
    first, second, third = (hb.gather(end, vertices(hand), Space, rows=seen) for end in ends)

    @hb.fun(POSE, (hb.R**Corner.set) ** seen)
    def f(p: hb.Expr[Pose], us: hb.Expr[Weights]) -> hb.Expr[Points]:
        rows = mesh(hand, p).rows()
        c = third(rows)
        return measured - c - hb.each(lambda u, a, b: u[0] * a + u[1] * b, us, first(rows) - c, second(rows) - c)

    return f


def vertices(hand: Hand) -> hb.Fin[Vertex]:
    """The index set of the mesh."""
    return Vertex.of(len(hand.still.array))


def fitted(f: hb.Map[Pose, Points], p: hb.Vec[Pose], rounds: int = 15) -> hb.Vec[Pose]:
    """A pose near p with small residuals, by Gauss–Newton."""
    for _ in range(rounds):
        step = np.asarray(np.linalg.lstsq(hb.jacobian(f, p), -f(p).flat())[0], dtype=float)
        p = p + p.space.unflat(step)
    return p


def rms(residuals: hb.Vec[Points]) -> float:
    """The root of the mean of the squares of all residuals."""
    return float(residuals.norm()) / math.sqrt(len(residuals.array))


# --- files of ADBench ---


def read_hand(folder: Path) -> Hand:
    """The model in a folder of ADBench: bones, vertices with their weights, triangles."""
    bones = [line.split(":") for line in (folder / "bones.txt").read_text("utf-8").splitlines()]
    parents = [int(bone[1]) for bone in bones]
    numbers = np.array([bone[2:34] for bone in bones], dtype=float).reshape(-1, 2, 4, 4)
    relative, inverse = numbers[:, 0], numbers[:, 1]
    lines = [line.split(":") for line in (folder / "vertices.txt").read_text("utf-8").splitlines()]
    points = np.array([[*line[:3], 1] for line in lines], dtype=float)
    weights = np.zeros((len(bones), len(points)))
    for k, line in enumerate(lines):
        for bone, weight in zip(line[9::2], line[10::2], strict=True):
            weights[int(bone), k] = float(weight)
    skin = weights[:, :, None] * np.einsum("bhk,vk->bvh", inverse, points)
    absolute = list[np.ndarray]()
    for parent, matrix in zip(parents, relative, strict=True):
        absolute.append(absolute[parent] @ matrix if parent >= 0 else matrix)
    still = sum(skin[b] @ absolute[b][:3].T for b in (0, len(bones) - 1))
    vertex = Vertex.of(len(points))
    limb = Limb.space(Vertex=vertex)
    chains = relative[1:-1].reshape(5, 4, 4, 4), skin[1:-1].reshape(5, 4, len(points), 4)
    triangles = np.loadtxt(folder / "triangles.txt", delimiter=":", dtype=int)
    wrist = (hb.R ** (axis * home)).vec(relative[0][:3])
    return Hand(wrist, (hb.R ** (vertex * axis)).vec(still), (limb**Finger.set).vec(chains), triangles)


@frozen
class Sight:
    """Vertices or triangles that are seen, their places, the pose that they are drawn from, weights on triangles."""

    which: np.ndarray
    targets: np.ndarray
    pose: hb.Vec[Pose]
    weights: np.ndarray | None


def read_sight(file: Path) -> Sight:
    """Read the observation in a file of ADBench."""
    head, *lines = file.read_text("utf-8").splitlines()
    count = int(head.split()[0])
    rows = np.array([line.split() for line in lines[:count]], dtype=float)
    rest = np.array(" ".join(lines[count:]).split(), dtype=float)
    weights = rest[:-26].reshape(count, 2) if len(rest) > 26 else None
    return Sight(rows[:, 0].astype(int), rows[:, 1:], POSE.unflat(rest[-26:]), weights)


def residuals(hand: Hand, sight: Sight) -> hb.Map[Pose, Points]:
    """The residuals in the pose alone, at the weights of the file."""
    if sight.weights is None:
        return at_vertices(hand, sight.which, sight.targets)
    f = on_triangles(hand, sight.which, sight.targets)
    us = f.dom.parts[1].vec(sight.weights)
    return hb.fun(POSE)(lambda p: f(p, us))


def main() -> None:
    """Fit a pose to what is seen, from the hand at rest."""
    data = Path(__file__).parents[2] / "tests/data/adbench"
    hand = read_hand(Path(sys.argv[1]) if sys.argv[1:] else data / "hand_model")
    sight = read_sight(Path(sys.argv[2]) if sys.argv[2:] else data / "hand6_t26_c1600.txt")
    f = residuals(hand, sight)
    print(f)
    found = fitted(f, POSE.zeros())
    for name, p in (("at rest", POSE.zeros()), ("given", sight.pose), ("found", found)):
        print(f"{name}: residuals of {rms(f(p)):.4f}")


if __name__ == "__main__":
    main()
