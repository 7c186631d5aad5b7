"""Mutants of the statements: what breaks each row of docs/traceability.md, and a test cited there that notices it."""

from __future__ import annotations

from dataclasses import dataclass

STATED = "tests/test_statements.py"


@dataclass(frozen=True)
class Statement:
    """A row of the table, by the start of its text; one place of its code, made wrong; a test that it cites."""

    row: str
    path: str
    before: str
    after: str
    test: str


STATEMENTS = (
    # --- §1–2: derivatives, index sets, spaces ---
    Statement("Def. 1.1, A.3", "diff/primitives.py", '_unary("sin", lambda x, _: cos(x))', '_unary("sin", lambda x, _: 1.01 * cos(x))', f"{STATED}::test_frechet_derivative"),
    Statement("Def. 1.1, A.3", "diff/affine.py", "linearized(planned(f))", "linearized(planned(1.01 * f))", f"{STATED}::test_frechet_derivative"),
    Statement("§2.1 | index sets", "hilbert/index.py", "self.left.position(element[0]) * self.right.size", "self.left.position(element[0]) * self.left.size", f"{STATED}::test_index_sets"),
    Statement("§2.1 | index sets", "hilbert/index.py", "return self.left.size + self.right.size", "return self.left.size", f"{STATED}::test_index_sets"),
    Statement("§2.1 | index sets", "hilbert/index.py", "return self.left.axes + self.right.axes", "return self.right.axes + self.left.axes", f"{STATED}::test_index_sets"),
    Statement("§2.2 | spaces", "hilbert/space.py", "Leaf(a.entry, a.axes + b.axes)", "Leaf(a.entry, b.axes + a.axes)", f"{STATED}::test_spaces"),
    Statement("§2.2 | spaces", "hilbert/space.py", "leaf.under(self.index.axes) for leaf in self.base.leaves", "Leaf(leaf.entry, leaf.axes + self.index.axes) for leaf in self.base.leaves", f"{STATED}::test_spaces"),
    Statement("§2.2 | vector space", "hilbert/vector.py", 'other, "⊙", _dot)', 'other, "⊙", lambda a, b: 2.0 * _dot(a, b))', "tests/hilbert/test_inner_product.py"),
    Statement("§2.2 | vector space", "hilbert/vector.py", "formal.scaled(a, -1.0)", "formal.scaled(a, 1.0)", "tests/hilbert/test_vector_space.py"),
    Statement("§2.2 | tensors as formal", "hilbert/formal/array.py", "return add(a, scaled(b, -1.0), memo)", "return add(a, b, memo)", "tests/hilbert/test_formal_vector_space.py"),
    Statement("§2.2 | tensors as formal", "hilbert/formal/array.py", "evolve(a, k=a.k + b.k)", "evolve(a, k=a.k * b.k)", "tests/hilbert/test_formal_vector_space.py"),
    Statement("§2.2 | the universal", "linmap/matrices/tensors.py", "order = tuple(map(source.index, spec.out))", "order = tuple(sorted(map(source.index, spec.out)))", "tests/linmap/test_tensor_isomorphism.py"),
    Statement("§2.2 | V ⊸ W", "linmap/matrices/tensors.py", "Section(contraction.inner(V), 1, right)", "Section(contraction.inner(V), 1, 2.0 * right)", "tests/linmap/test_tensor_isomorphism.py"),
    Statement("§2.2 | injections", "linmap/net/lower.py", "w.each(wire.Same(), src, dst[start : start + len(src)])", "w.each(wire.Same(), src, dst[: len(src)])", "tests/linmap/test_biproduct.py"),
    Statement("§2.2 | injections", "linmap/net/lower.py", "below.append((part, src[a:a2], dst[b:b2], lead))", "below.append((part, src[a:a2], dst[: b2 - b], lead))", "tests/linmap/test_biproduct.py"),
    Statement("§2.2 | Δ", "linmap/term/maps.py", "Section(bilinear.lifted(X), side, family)", "Section(bilinear.lifted(X), side, 2.0 * family)", "tests/linmap/test_sections.py"),
    Statement("§2.2.3 | relational", "hilbert/arrays/reduction.py", "np.cumsum(v, axis=at, out=out)", "np.cumsum(v, axis=0, out=out)", "tests/linmap/test_reduce.py"),
    Statement("§2.2.3 | relational", "hilbert/relation/functions.py", "return np.arange(self.dom.size), self.positions.array", "return self.positions.array, self.positions.array", "tests/linmap/test_reduce.py"),
    Statement("§2.2.3 | rep", "linmap/term/maps.py", "return Reduce(full(X, Unit()), V)", "return Reduce(run(Unit(), X, 0).T, V)", "tests/linmap/test_reduce.py"),
    Statement("§2.2.3 | rep", "linmap/term/maps.py", "return Join((identity(V), identity(V)))", "return Join((identity(V), 2.0 * identity(V)))", "tests/linmap/test_biproduct.py"),
    Statement("§2.2.3 | rep", "linmap/relational/axes.py", "return back(X) if reverse else forward(X)", "return forward(X)", "tests/linmap/test_reduce.py"),
    # --- §3: the two languages ---
    Statement("§3.1", "hilbert/spec.py", "return _spec(self.left, self.out, self.right)", "return _spec(self.left, self.right, self.out)", "tests/hilbert/test_spec.py"),
    Statement("§3.1", "hilbert/spec.py", "c for c in self.left if c not in self.out", "c for c in self.left if c not in self.right", "tests/hilbert/test_contraction.py"),
    Statement("§3.1", "linmap/contraction.py", "spec = Spec.of(a + b, b + c, a + c)", "spec = Spec.of(a + b, b + c, c + a)", "tests/linmap/test_sections.py"),
    Statement("§3.2", "linmap/unitary.py", "order.append((*range(p, p + q), *range(p)))", "order.append(tuple(range(p + q)))", "tests/linmap/test_unitary.py"),
    Statement("§3.2", "adjoint/rules.py", "sorted(range(len(o)), key=o.__getitem__)", "o", "tests/adjoint/test_unitary.py"),
    Statement("§3.3", "linmap/net/lower.py", "below.extend((part, src, dst, lead) for part in parts)", "below.extend((part, src, dst, lead) for part in parts[:1])", "tests/linmap/test_matrix.py"),
    Statement("§3.3", "linmap/net/lower.py", "w.each(wire.Scale(k), src, dst)", "w.each(wire.Scale(k * k), src, dst)", "tests/linmap/test_matrix.py"),
    Statement("§3.4–3.6", "diff/primitives.py", 'sinh: Primitive = _unary("sinh", lambda x, _: cosh(x))', 'sinh: Primitive = _unary("sinh", lambda x, _: cosh(x), value=lambda xp, x: xp.cosh(x))', "tests/diff/test_primitives.py"),
    Statement("§3.4–3.6", "diff/primitives.py", "lambda _, y: 0.5 * reciprocal(y)", "lambda _, y: reciprocal(y)", "tests/diff/test_primitives.py"),
    Statement("§3.4–3.6", "diff/lower.py", "            for part in parts:\n                x = yield _lower(b, part, x, known)", "            for part in parts[-1:]:\n                x = yield _lower(b, part, x, known)", "tests/diff/test_meaning.py"),
    Statement("§3.4 | partial", "diff/primitives.py", 'log: Primitive = _unary("log", lambda x, _: reciprocal(x)', 'log: Primitive = _unary("log", value=lambda xp, x: xp.log(xp.abs(x)), derivative=lambda x, _: reciprocal(x)', f"{STATED}::test_partial_primitives"),
    # --- §4–5: derivatives ---
    Statement("Thm 4.1 (1)", "diff/affine.py", "Arc(wire.Section(spec, 0, Ref(u, b.slots[u])), v, y)", "Arc(wire.Section(spec, 0, Ref(u, b.slots[u])), v if v < b.arity else u, y)", "tests/diff/test_chain_rule.py"),
    Statement("Thm 4.1 (1)", "diff/affine.py", "where = b.inline(line, (*args, y))", "where = b.inline(line, (*(k % b.arity if b.slots[k % b.arity] == b.slots[k] else k for k in args), y))", "tests/diff/test_chain_rule.py"),
    Statement("Thm 4.1 (2)", "diff/affine.py", "pass\n            case Contract", "arcs += [Arc(wire.Same(), 0, y)] if b.arity and b.slots[0] == b.slots[y] else []\n            case Contract", f"{STATED}::test_constants"),
    Statement("Thm 4.1 (3)", "diff/affine.py", "arcs += [Arc(wire.Same(), k, y) for k in args]", "arcs += [Arc(wire.Same(), k, y) for k in args[:1]]", "tests/diff/test_linear_derivative.py"),
    Statement("Thm 4.1 (3)", "diff/affine.py", "arcs.append(Arc(linear, args[0], y))", "arcs += [Arc(linear, args[0], y)] * 2", "tests/diff/test_linear_derivative.py"),
    Statement("Thm 4.1 (4)", "diff/affine.py", "                if b.slots[u].is_field:", "                if u != v and b.slots[u].is_field and u > 0:", "tests/diff/test_product_rule.py"),
    Statement("Thm 4.1 (4)", "diff/affine.py", "wire.Section(spec, 1, Ref(v, b.slots[v]))", "wire.Section(spec, 1, Ref(v if b.slots[u] != b.slots[v] else u, b.slots[v]))", "tests/diff/test_product_rule.py"),
    Statement("Thm 4.1 (5)", "hilbert/program/operation.py", "self.spec.lifted(n, left=up[0], right=up[1])", "self.spec.lifted(n, left=up[1], right=up[0])", f"{STATED}::test_parallel_composition"),
    Statement("Thm 4.1 (5)", "diff/lift.py", "for k, up in zip(outputs, varies, strict=True)", "for k, up in zip(outputs[::-1], varies, strict=True)", f"{STATED}::test_parallel_composition"),
    Statement("Prop. 5.1, Fig. 1", "diff/affine.py", "return d.run(argument(f, x))", "return d.run(2.0 * argument(f, x) if argument(f, x).space.is_space else argument(f, x))", f"{STATED}::test_fig_1"),
    Statement("Prop. 5.1, Fig. 1", "diff/affine.py", "self._closed(x, self.program.outputs)", "self._closed(x, self.program.outputs[::-1])", f"{STATED}::test_affine_approximation"),
    Statement("§5 | the derivative's size", "diff/affine.py", "kept = live_arcs(arcs, inputs, wires)", "kept = arcs * 12", "tests/diff/test_size.py"),
    Statement("§5 | terms are optimised", "linmap/laws/biproduct.py", "made = fork_with_zeros(f)\n    return None if made is None else (None, list(made.parts))", "made = fork_with_zeros(f)\n    return None if made is None else (2.0, list(made.parts))", "tests/linmap/test_laws.py"),
    Statement("§5 | terms are optimised", "diff/laws.py", "return (k * l) * (g @ type(f)((u, v)))", "return k * (g @ type(f)((u, v)))", "tests/diff/test_laws.py"),
    # --- §6: adjoints ---
    Statement("§6 | duals", "linmap/term/maps.py", "Section(contraction.inner(v.space), 1, v)", "Section(contraction.inner(v.space), 1, 2.0 * v)", f"{STATED}::test_duals"),
    Statement("Def. 6.1", "linmap/net/reverse.py", "a.map.adjoint(f.wires[a.src])", "a.map", f"{STATED}::test_adjoint_by_covectors"),
    Statement("Prop. 6.2", "linmap/net/reverse.py", "reversed(f.arcs)", "reversed(f.arcs[:1])", f"{STATED}::test_the_adjoint_is_unique"),
    Statement("Prop. 6.3", "adjoint/rules.py", "spec.section_adjoint(0)", "spec", "tests/adjoint/test_defining_equation.py"),
    Statement("Prop. 6.3", "adjoint/rules.py", "return Scaled(k, rec(of))", "return Scaled(abs(k), rec(of))", "tests/adjoint/test_defining_equation.py"),
    Statement("Prop. 6.4", "adjoint/gradient.py", "b.number(1.0, f.cod.leaves[0])", "b.number(2.0, f.cod.leaves[0])", "tests/adjoint/test_gradient.py"),
    Statement("Thm 6.5", "adjoint/rules.py", "reversed(list(parts))", "list(parts)", "tests/adjoint/test_dagger.py"),
    Statement("Thm 6.5", "adjoint/rules.py", "return Reduce(relation.T, base)", "return Reduce(relation, base)", "tests/adjoint/test_dagger.py"),
    Statement("Thm 6.5", "linmap/net/reverse.py", "f.cod, f.dom, f.outputs, arcs, f.inputs", "f.cod, f.dom, f.inputs, arcs, f.outputs", "tests/adjoint/test_dagger.py"),
    Statement("Fig. 2", "adjoint/affine.py", "return value, adjoint(linear)", "return value, adjoint(2.0 * linear)", "tests/adjoint/test_adjoint_affine.py"),
    Statement("Fig. 2", "adjoint/affine.py", "adjoint(restricted(linearized(q), chosen)).uncurried", "adjoint(restricted(linearized(q), chosen) if q.arity > 1 else linearized(planned(q @ q) if q.dom == q.cod else q)).uncurried", "tests/adjoint/test_adjoint_affine.py"),
    # --- §7–8 and the appendix ---
    Statement("Ex. 7.1", "docs/examples/digits.py", "hb.tanh(g2[Layer2.weights] @ v1 + g2[Layer2.bias])", "hb.tanh(g2[Layer2.weights] @ v1)", "tests/test_claims.py::test_the_example_is_the_network"),
    Statement("§8, Griewank", "linmap/matrices/structure.py", "parts.append(LowRank(1, (rows, cols)) if min(rows, cols) > 1 else DenseForm((rows, cols)))", "parts.append(DenseForm((rows, cols)))", "tests/linmap/test_tensor_isomorphism.py::test_griewank"),
    Statement("A.4, A.5", "diff/affine.py", "where = b.inline(self.program.line, range(n))\n        outputs", "where = b.inline(self.program.line, range(n, 2 * n) if self.dom == self.point else range(n))\n        outputs", f"{STATED}::test_gateaux"),
    Statement("A.4, A.5", "diff/affine.py", "apply_net(b, self.body, range(n, b.arity), dict(enumerate(where)))", "apply_net(b, self.body, range(b.arity - n), dict(enumerate(where)))", f"{STATED}::test_dual_numbers_compose"),
    Statement("A.1, A.2, A.3", "diff/primitives.py", 'square: Primitive = _unary("square", lambda x, _: 2.0 * x)', 'square: Primitive = _unary("square", lambda x, _: 3.0 * x)', "docs/paper.md"),
    Statement("B.1, B.2", "diff/primitives.py", 'cos: Primitive = _unary("cos", lambda x, _: -sin(x))', 'cos: Primitive = _unary("cos", lambda x, _: sin(x))', "docs/paper.md"),
    # --- beyond the paper ---
    Statement("shared arguments", "hilbert/program/lifted.py", "varies.append(any(varies[a] for a in step.args))", "varies.append(all(varies[a] for a in step.args))", "tests/diff/test_copower.py"),
    Statement("elements of index sets and truth", "hilbert/arrays/discrete.py", "where = where + base.like(i) if base else where", "where = where", "tests/hilbert/test_contraction.py"),
    Statement("elements of index sets and truth", "hilbert/arrays/discrete.py", "xp.where(mask(xp.asarray(m)), x, lib.zeros((), x))", "mask(xp.asarray(m)) * x", "tests/hilbert/test_contraction.py"),
    Statement("the paper's future work", "hilbert/relation/functions.py", "stride + 1, 0)", "stride, 0)", "tests/hilbert/test_relation_forms.py"),
    Statement("the paper's future work", "hilbert/arrays/reduction.py", "p.cut(0, r.left.cod.size), p.cut(r.left.cod.size, None)", "p.cut(0, r.left.dom.size), p.cut(r.left.dom.size, None)", "tests/hilbert/test_relations_reduction.py"),
    Statement("index sets of labels", "hilbert/index.py", "return self._places[element]", "return len(self._places) - 1 - self._places[element]", "tests/hilbert/test_labelled_axes.py"),
    Statement("index sets of labels", "hilbert/relation/keys.py", "column if categories is None else categories", "column", "tests/hilbert/test_labelled_axes.py"),
    Statement("named linear functions", "linmap/relational/axes.py", "return red(rotation(X, by), V)", "return red(rotation(X, -by), V)", "tests/linmap/test_relational.py"),
    Statement("sparse matrices", "linmap/relational/weighted.py", "np.add.at(summed, places, data)", "summed[places] = data", "tests/linmap/test_weighted.py"),
    Statement("sparse matrices", "diff/maps.py", "red(target, V) @ bilinear(c.lifted(target.dom)) @ gathered", "red(target, V) @ (2.0 * bilinear(c.lifted(target.dom))) @ gathered", "tests/linmap/test_weighted.py"),
    Statement("gather and segment sum", "linmap/contraction.py", '("xv", "yx", "yv")', '("xv", "yx", "vy")', "tests/diff/test_elements.py"),
    Statement("gather and segment sum", "hilbert/arrays/discrete.py", "xp.reshape(lib.segment_sum(values, where, cells * count), shape)", "xp.reshape(lib.segment_sum(values, where[::-1], cells * count), shape)", "tests/diff/test_elements.py"),
    Statement("structure from terms", "linmap/matrices/structure.py", "scaled = p.k != 1.0 or", "scaled = p.k != 1.0 and", "tests/linmap/test_structure_matrix.py"),
    Statement("structure from terms", "linmap/matrices/structure.py", "return SparseForm(entries, shape, exact) if entries else ZeroForm()", "return DenseForm(shape) if entries else ZeroForm()", "tests/linmap/test_structure_matrix.py"),
    Statement("structure from terms", "linmap/matrices/cost.py", "return Work(w.flops, w.bytes + 8 * entries, max(w.largest, entries))", "return Work(w.flops, w.bytes, max(w.largest, entries))", "tests/linmap/test_order.py"),
    Statement("the order of accumulation", "linmap/matrices/order.py", "(1 if left == both else 2)", "1", "tests/linmap/test_order.py"),
    Statement("the order of accumulation", "linmap/matrices/order.py", "limit=allowed) or best(", 'least="largest") or best(', "tests/linmap/test_order.py"),
    Statement("block layout", "linmap/matrices/blocks.py", "flat_positions(out, here, n.sizes), flat_positions(inp, here, n.sizes)", "flat_positions(inp, here, n.sizes), flat_positions(out, here, n.sizes)", "tests/linmap/test_structure_matrix.py"),
    Statement("block layout", "linmap/matrices/blocks.py", "shape[0] // size[0], shape[1] // size[1]", "shape[0] // size[1], shape[1] // size[0]", "tests/linmap/test_structure_matrix.py"),
    Statement("data parallelism", "hilbert/program/lifted.py", "            case _ if not (any(some)", "            case _ if not step.args and not (any(some)", "tests/diff/test_data_parallelism.py"),
)  # fmt: skip
