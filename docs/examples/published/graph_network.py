"""A graph network: two communities are told apart by features and by one round of messages (Gilmer et al. 2017)."""

from __future__ import annotations

import numpy as np

import hilbert.all as hb


class Node(hb.Axis, size=60):
    """The nodes."""


class Edge(hb.Axis, size=240):
    """The edges."""


class Feature(hb.Axis, size=4):
    """The features of a node."""


class Hidden(hb.Axis, size=8):
    """The components of a state, which nodes send to each other."""


class Class(hb.Axis, size=2):
    """The communities."""


class Net(hb.Record):
    """The weights for features, for a node's own state, and for the messages that it receives."""

    embed: hb.Part[hb.Matrix[Hidden, Feature]]
    own: hb.Part[hb.Matrix[Class, Hidden]]
    received: hb.Part[hb.Matrix[Class, Hidden]]


P, Features = Net.space(), hb.R**Feature.set
Nodes, Labels = hb.Elements(Node.set) ** Edge.set, hb.Elements(Class.set) ** Node.set

rng = np.random.default_rng(0)
features, labels = (Features**Node.set).random(rng), Labels.vec(np.arange(60) % 2)
source, target = Nodes.vec(rng.integers(0, 60, 240)), Nodes.vec(2 * rng.integers(0, 30, 240))


@hb.fun(P, Features)
def state(p: hb.Expr[Net], x: hb.Expr[hb.Vector[Feature]]) -> hb.Expr[hb.Vector[Hidden]]:
    """The state of a node."""
    return hb.tanh(p[Net.embed] @ x)


@hb.fun(P)
def loss(p: hb.Expr[Net]) -> hb.Expr[hb.Scalar]:
    """The mean cross-entropy; the score of a node is of its state and the sum of its neighbours' states."""
    states = hb.lift(state, Node.set)(p, features)
    messages = states[source].scatter(target)
    scores = hb.each(lambda h, m, y: (p[Net.own] @ h + p[Net.received] @ m).log_softmax()[y], states, messages, labels)
    return -scores.mean()
