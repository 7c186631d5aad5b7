"""Remedies in errors: for attributes, operators and functions of numpy that vectors, spaces and index sets lack."""

from __future__ import annotations

from typing import Any

OWN = "register(name, value, derivative) for a function entry by entry, or operation(name, …) for any other"
"""The remedy for a function that has no counterpart here: to define one's own."""
_STOPPED = "stop_gradient(x); data that is no argument of the function has no derivative anyway"
_GRAD = "grad(f)(x) of this library, f traced by fun"
_JUMPS = "register(name, value, derivative), for it has jumps; or numpy's function of v.array"
_KEPT = "again(f, *args), or checkpoint= of fold and iterate"
_ONES = "x.reshape(X * Fin.of(1)), or x.rep(V) where a copy along an axis is meant"
_OF_PAIRS = "{}(X)(zip_parts(direct_sum(V, V))(x, y)), of real and imaginary parts x and y in V = R ** X"
_TRAPEZOID = "0.5 * h * (x[1:] + x[:-1]).sum() for values h apart"
ARRAYS = {
    "shape": "x.space.index.shape, or v.array.shape of a vector",
    "dtype": "x.space: R holds float64, R32 float32",
    "ndim": "len(x.space.index.axes)",
    "size": "x.space.dim",
    "dot": "x @ y, or dot(x, y, over=X)",
    "astype": "x.cast(R32)",
    "flatten": "v.flat() of a vector, or x.reshape(Fin.of(n))",
    "ravel": "v.flat() of a vector, or x.reshape(Fin.of(n))",
    "item": "float(v) of a scalar vector, float(v[k]) of a component",
    "to": "x.cast(R32) for the precision; arrays stay where they are, V.vec(array) of a moved one is there",
    "type": "x.cast(R32)",
    "double": "x.cast(R)",
    "float": "x.cast(R32)",
    "contiguous": "x itself: results are made anew",
    "copy": "v itself: vectors are never changed",
    "append": "x.concatenate(y)",
    "std": "sqrt(((x - m) ** 2).mean()), m the mean at each element, or v.array.std() of a vector",
    "var": "((x - m) ** 2).mean(), m the mean at each element, or v.array.var() of a vector",
    "prod": "x.product()",
    "any": "v.array.any() of a vector",
    "all": "v.array.all() of a vector",
    "tolist": "v.array.tolist() of a vector",
    "numpy": "v.array of a vector",
    "round": "v.array.round() of a vector, show(v, digits=3) to print it",
    "repeat": "x.rep(V), V with the axes along which it is repeated",
    "take": "x[(Elements(X) ** Y).vec(positions)], or gather(positions, X)(x)",
    "squeeze": "x[0], or x.reshape(X)",
    "swapaxes": "x.T",
    "mT": "x.T",
    "conj": "x itself: entries are real",
    "inv": "inverse(A)",
    "I": "inverse(A)",
    "H": "x.T",
    "det": "det(A)",
    "at": "x + inject(V, k)(d), or select(c, x) + select(~c, y): nothing is changed in place",
    "real": "x itself: entries are real",
    "imag": "a pair of vectors for real and imaginary parts: entries are real",
    "abs": "abs(x)",
    "add": "x + y",
    "subtract": "x - y",
    "sub": "x - y",
    "multiply": "x * y",
    "mul": "x * y",
    "div": "x / y",
    "negative": "-x",
    "neg": "-x",
    "pow": "x ** k, or pow(x, y) for an exponent that varies",
    "matmul": "x @ y",
    "mm": "x @ y",
    "outer": "outer(x, y)",
    "kron": "outer(x, y), in the tensor product",
    "where": "where(c, x, y)",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "less": "x < y",
    "less_equal": "x <= y",
    "equal": "x.equals(y)",
    "not_equal": "x.differs(y)",
    "maximum": "maximum(x, y)",
    "minimum": "minimum(x, y)",
    "atan2": "atan2(x, y)",
    "t": "x.T",
    "detach": _STOPPED,
    "requires_grad": "grad(f, wrt=…) for the arguments that are differentiated",
    "backward": _GRAD,
    "grad": _GRAD,
    "unsqueeze": _ONES,
    "expand": "x.rep(V), V with the axes along which it is repeated",
    "expand_as": "x.rep(V), V with the axes along which it is repeated",
    "view": "x.reshape(X)",
    "clone": "v itself: vectors are never changed",
    "cpu": "v.array of a vector",
    "data": "v.array of a vector",
    "values": "v.array of a vector",
    "items": "x[P.part] of a record, x[k] of a direct sum",
    "length": "len(x) for parts, x.space.dim for entries",
    "dim": "x.space.dim",
    "index": "x.space.index",
    "nonzero": "v.array.nonzero() of a vector, or select(c, x)",
    "searchsorted": "v.array.searchsorted(…) of a vector, or (y > x).cast(R).sum()",
    "fill": "V.full(k)",
    "median": "x.sort()[k], k the place in the middle",
    "block_until_ready": "x itself: results are there when a call returns",
}
"""The remedies for attributes of arrays, for vectors and expressions: code to write instead."""
FUNCTIONS = (
    ARRAYS
    | {
        "amax": "x.max()",
        "max": "x.max()",
        "amin": "x.min()",
        "min": "x.min()",
        "sum": "x.sum()",
        "mean": "x.mean()",
        "average": "x.mean(), or inner(w, x) for weights w",
        "inner": ARRAYS["dot"],
        "vdot": ARRAYS["dot"],
        "tensordot": "contract(labels, x, y)",
        "cumsum": "x.cumsum()",
        "cumprod": "x.cumprod()",
        "diff": "differences(X)(x)",
        "gradient": "differences(X)(x) for those of neighbours, grad(f)(x) for the gradient of a function",
        "trapezoid": _TRAPEZOID,
        "trapz": _TRAPEZOID,
        "cross": "x.roll(-1) * y.roll(-2) - x.roll(-2) * y.roll(-1), for three entries",
        "clip": "x.clip(a, b)",
        "argmax": "x.argmax()",
        "argmin": "x.argmin()",
        "argsort": "x.argsort()",
        "sort": "x.sort()",
        "top_k": "x[x.top(k)], x.top(k) for the places",
        "roll": "x.roll(1)",
        "flip": "x.flip()",
        "pad": "x.pad(a, b)",
        "reshape": "x.reshape(Y)",
        "transpose": "x.T",
        "permute": "x.transpose(Y), or .T of a matrix",
        "moveaxis": "x.transpose(Y)",
        "expand_dims": _ONES,
        "broadcast_to": "x.rep(V), V with the axes along which it is repeated",
        "concatenate": ARRAYS["append"],
        "cat": ARRAYS["append"],
        "hstack": ARRAYS["append"],
        "vstack": "stack(X, V)(x, y) for x and y in V, one for each element of X",
        "stack": "stack(X, V)(x, y) for x and y in V, one for each element of X",
        "column_stack": "uncurry(V ** X)(stack(X, V)(x, y)).T for columns x and y in V, one for each element of X",
        "einsum": "contract(labels, x, y)",
        "absolute": "abs(x)",
        "fabs": "abs(x)",
        "shape": ARRAYS["shape"],
        "zeros": "V.zeros()",
        "ones": "V.ones()",
        "full": "V.full(k)",
        "zeros_like": "const(x.space.zeros())",
        "ones_like": "const(x.space.ones())",
        "full_like": "const(x.space.full(k))",
        "arange": "V.vec(numpy.arange(n)); the elements of an index set X are those of Elements(X)",
        "linspace": "V.vec(numpy.linspace(a, b, n))",
        "eye": "identity(V) for the linear map, (R ** X).ones().diag() for the matrix in ℝ^{X×X}",
        "diag": "v.diag() for the matrix with v on its diagonal, A.diagonal() for the diagonal of A",
        "diagonal": "A.diagonal()",
        "trace": "A.trace()",
        "slogdet": "logdet(A)",
        "solve": "solve(A, b)",
        "solve_triangular": "solve_triangular(A, b)",
        "cho_solve": "solve(A, b)",
        "lstsq": "solve(A.T @ A, A.T @ b)",
        "cholesky": "cholesky(A)",
        "eigh": "eigh(A)",
        "svd": "svd(A)",
        "qr": "qr(A)",
        "tile": ARRAYS["repeat"],
        "array": "stack(X, V)(x, y) for expressions x and y in V, V.vec(data) for data",
        "asarray": "stack(X, V)(x, y) for expressions x and y in V, V.vec(data) for data",
        "norm": "x.norm()",
        "softmax": "x.softmax()",
        "log_softmax": "x.log_softmax()",
        "logsumexp": "x.logsumexp()",
        "log_sigmoid": "-softplus(-x)",
        "expit": "sigmoid(x)",
        "silu": "x * sigmoid(x)",
        "swish": "x * sigmoid(x)",
        "erfc": "1.0 - erf(x) (of large x, few digits)",
        "logit": "log(x) - log1p(-x)",
        "log_expit": "-softplus(-x)",
        "one_hot": "onehot(x) of an element of an index set",
        "segment_sum": "x.scatter(ids)",
        "bincount": "w.scatter(ids)",
        "arctan2": "atan2(x, y)",
        "arcsin": "asin(x)",
        "arccos": "acos(x)",
        "arctan": "atan(x)",
        "arcsinh": "asinh(x)",
        "arccosh": "acosh(x)",
        "arctanh": "atanh(x)",
        "power": ARRAYS["pow"],
        "float_power": ARRAYS["pow"],
        "exp2": "exp(math.log(2.0) * x)",
        "cbrt": "x ** (1 / 3), for x > 0",
        "isnan": "x.differs(x)",
        "isclose": "abs(x - y) < k",
        "fsum": "x.sum()",
        "pinv": "solve(A.T @ A, A.T)",
        "fft": _OF_PAIRS.format("fft"),
        "ifft": _OF_PAIRS.format("ifft"),
        "logical_and": "c & d",
        "logical_or": "c | d",
        "logical_not": "~c",
        "floor": _JUMPS,
        "ceil": _JUMPS,
        "mod": _JUMPS,
        "remainder": _JUMPS,
        "fmod": _JUMPS,
        "pi": "math.pi",
        "grad": _GRAD,
        "jit": "f as it is: a traced function is a program, traced once",
        "vmap": "each(f, xs), or lift(f, X)",
        "map": "each(f, xs)",
        "scan": "fold(step, start, xs)",
        "fori_loop": "iterate(step, start, X), or fold(step, start, xs) where the step needs data of its round",
        "while_loop": "while_(condition, step, start, at_most=X)",
        "cond": "where(c, lambda: x, lambda: y)",
        "checkpoint": _KEPT,
        "remat": _KEPT,
        "jacrev": "jacobian(f, x)",
        "jacfwd": "jacobian(f, x)",
        "linearize": "derivative(f)(x)",
        "custom_vjp": OWN,
        "custom_jvp": OWN,
        "least_squares": "scipy.optimize.least_squares with jac=jacobian(f, x); solve(A.T @ A, A.T @ b) for A @ x = b",
        "solve_ivp": "ode_solve(f, x, t), f the rate of the state, a function V → V",
        "odeint": "ode_solve(f, x, t), f the rate of the state, a function V → V",
        "fsolve": "root(f, start)",
        "newton": "root(f, start)",
        "minimize": "scipy.optimize.minimize with value_and_grad(f), or root(step, x) for a stationary point",
    }
    | dict.fromkeys(
        ("gammaln", "lgamma", "gamma", "digamma", "erfinv", "nextafter", "copysign", "rint", "trunc", "heaviside"), OWN
    )
)
"""The remedies for functions of numpy, for vectors and expressions: code to write instead."""
_STEPS = "it has jumps; write register(name, value, derivative) for a function entry by entry, or compute with v.array"
_FIXED = (
    "nothing is changed in place: make a new vector, V.vec(array), select(c, x), x + inject(V, k)(d), or of a record "
)
_FIXED += "p.replace(P.a, v)"
_WHOLE = "a whole number is one of Python or an element of Fin.of(n); len(x) counts parts, x.space.dim entries"
OPERATORS = {
    "__mod__": ("%", _STEPS),
    "__rmod__": ("%", _STEPS),
    "__floordiv__": ("//", f"{_STEPS}; x / y divides"),
    "__rfloordiv__": ("//", f"{_STEPS}; x / y divides"),
    "__divmod__": ("divmod", _STEPS),
    "__rdivmod__": ("divmod", _STEPS),
    "__round__": ("round", _STEPS),
    "__floor__": ("floor", _STEPS),
    "__ceil__": ("ceil", _STEPS),
    "__trunc__": ("trunc", _STEPS),
    "__xor__": ("^", "write x ** 2.0 for a power, outer(x, y) for ⊗"),
    "__rxor__": ("^", "write x ** 2.0 for a power, outer(x, y) for ⊗"),
    "__index__": ("the whole number", _WHOLE),
    "__int__": ("the integer", f"of a scalar vector it is int(float(v)); {_WHOLE}"),
    "__complex__": ("the complex number", "entries are real; write a pair of vectors for real and imaginary parts"),
    "__setitem__": ("a change x[k] = …", _FIXED),
    "__delitem__": ("a change del x[k]", _FIXED),
    "__contains__": ("a search k in x", "write (v.array == k).any() for entries of a vector"),
}
"""The signs of operators of numbers and arrays, and the remedies for them, for vectors and expressions."""

POWER = "pow(x, y) takes y that varies, a scalar as k.rep(V) for x ∈ V"
"""The remedy for an exponent that is no number."""

OUTER = 'outer(v, w) is no matrix, but contract("i,j->ij", v, w, to=R ** (X * Y)) is one'
"""The remedy for v ⊗ w in place of a matrix."""

_DATA = "V.vec(data) for the vector with some entries"
_ARRAYS = "V.zeros().array for the form of an array of V, v.array of a vector v"
OF_SPACES = {
    "shape": "V.index.shape",
    "dtype": "V.leaves[0].dtype",
    "ndim": "len(V.index.axes)",
    "axes": "V.index.axes",
    "size": "V.dim, the number of entries",
    "length": "V.dim, the number of entries",
    "array": _ARRAYS,
    "numpy": _ARRAYS,
    "T": "R ** (X * Y), the space of the transposes of matrices in R ** (Y * X)",
    "of": _DATA,
    "array_of": _DATA,
    "tensor": _DATA,
    "element": _DATA,
    "empty": "V.zeros()",
    "zero": "V.zeros()",
    "one": "V.ones()",
    "fill": "V.full(k)",
    "constant": "V.full(k)",
    "normal": "V.random(rng), where rng = numpy.random.default_rng(seed)",
    "randn": "V.random(rng), where rng = numpy.random.default_rng(seed)",
    "sample": "V.random(rng), where rng = numpy.random.default_rng(seed)",
    "eye": "identity(V), the linear map",
    "identity": "identity(V), the linear map",
    "from_array": _DATA,
    "from_numpy": _DATA,
}
"""The remedies for attributes that spaces lack."""
_COUNTS = "V.dim is the number of entries, V.parts are those of a direct sum, V.basis() the unit vectors"
_SCALED = "a space is not scaled: write R ** Fin.of(2) for two copies of R, 2.0 * v for a vector"
SIGNS_OF_SPACES = {
    "__len__": ("len()", _COUNTS),
    "__iter__": ("a loop over the items", _COUNTS),
    "__index__": ("the whole number", _COUNTS),
    "__getitem__": (
        "the item [k]",
        "V.parts[k] is a part of a direct sum, v[k] of a vector, V.base the space of a component",
    ),
    "__matmul__": ("@", "write direct_sum(V, W) for pairs, V * W for the tensor product, v @ w for vectors"),
    "__sub__": ("-", "write direct_sum(V, W) for pairs, v - w for vectors"),
    "__neg__": ("-", "write -v for a vector"),
    "__rmul__": ("the multiple k *", _SCALED),
    "__mul__": ("*", "the tensor product V * W is of spaces; direct_sum(V, W) is the type of pairs"),
    "__truediv__": ("/", "a space is not divided; write v / 2.0 for a vector"),
    "__xor__": ("^", "write R ** X for the space of vectors over an index set X"),
    "__rpow__": ("the power k **", "write R ** X, the space first and the index set behind it"),
    "__or__": ("|", "write direct_sum(V, W) for pairs"),
    "__and__": ("&", "write direct_sum(V, W) for pairs"),
}
"""The signs of operators that spaces lack, and the remedies for them."""

OF_INDEX_SETS = {
    "dim": "X.size",
    "n": "X.size",
    "length": "X.size",
    "ndim": "len(X.axes)",
    "names": "X.tag of an axis, X.axes of a product",
    "name": "X.tag of an axis, X.axes of a product",
    "array": "range(X.size), the positions",
    "elements": "Elements(X) for the type of elements, range(X.size) for the positions",
    "items": "Elements(X) for the type of elements, range(X.size) for the positions",
    "vec": "(R ** X).vec(data)",
    "zeros": "(R ** X).zeros()",
    "ones": "(R ** X).ones()",
    "random": "(R ** X).random(rng), where rng = numpy.random.default_rng(seed)",
}
"""The remedies for attributes that index sets lack."""
_ITEMS = "X.size counts its elements, range(X.size) has their positions, build(f, X) gives f an element"
SIGNS_OF_INDEX_SETS = {
    "__len__": ("len()", _ITEMS),
    "__iter__": ("a loop over the items", _ITEMS),
    "__index__": ("the whole number", _ITEMS),
    "__getitem__": ("the item [k]", "X.axes[k] is an axis of a product, v[k] a component of a vector over X"),
    "__pow__": ("**", "write R ** X, the space first and the index set behind it, or X * X for pairs"),
    "__matmul__": ("@", "write X * Y for pairs"),
    "__xor__": ("^", "write X * X for pairs, R ** X for the space of vectors over X"),
    "__sub__": ("-", "write Fin.of(X.size - Y.size) for so many elements, x[a:] for a part of a vector"),
    "__rmul__": ("the multiple k *", "write Fin.of(2) * X for pairs, Fin.of(2 * X.size) for twice as many elements"),
    "__truediv__": ("/", "write Fin.of(X.size // 2) for half as many elements"),
    "__floordiv__": ("//", "write Fin.of(X.size // 2) for half as many elements"),
    "__radd__": ("the sum k +", "write Fin.of(1) + X, for the elements of one set, then those of the other"),
}
"""The signs of operators that index sets lack, and the remedies for them."""


def of_leaves(space: Any, name: str, attribute: str) -> str:
    """The remedy for the attribute that depends on the form of a space, which is called `name`; else empty.

    Empty for ℝ^X, too, whose index set has the shape; ℝ has no index set, and a direct sum has several.
    """
    each = {"shape": "leaf.shape", "ndim": "len(leaf.axes)"}.get(attribute)
    if each is None or (len(space.leaves) == 1 and hasattr(space, "base") and not hasattr(space.base, "base")):
        return ""
    return f"[{each} for leaf in {name}.leaves], an item for each array of an element"
