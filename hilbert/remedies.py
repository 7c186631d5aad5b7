"""What to write instead: attributes of arrays, functions of numpy and operators that vectors and expressions lack."""

ARRAYS = {
    "shape": "x.space.index.shape, or v.array.shape of a vector",
    "dtype": "x.space: R holds float64, R32 float32",
    "ndim": "x.space.index.axes",
    "size": "x.space.dim",
    "max": "maximum(x, y) for the larger of two; v.array.max() for the largest entry of a vector",
    "min": "minimum(x, y) for the smaller of two; v.array.min() for the least entry of a vector",
    "dot": "x @ y, or inner(x, y)",
    "astype": "cast(V, R32)(x)",
    "flatten": "v.flat() of a vector, or x.reshape(Fin.of(n))",
    "ravel": "v.flat() of a vector, or x.reshape(Fin.of(n))",
    "transpose": "x.T",
    "item": "float(v)",
    "copy": "v itself: vectors are never changed",
    "append": "concatenate(X, Y)(x, y)",
}
"""What takes the place of an attribute of arrays, for vectors and expressions."""
FUNCTIONS = {
    "max": ARRAYS["max"],
    "amax": ARRAYS["max"],
    "min": ARRAYS["min"],
    "amin": ARRAYS["min"],
    "sum": "x.sum()",
    "mean": "x.mean()",
    "dot": ARRAYS["dot"],
    "matmul": "x @ y",
    "inner": ARRAYS["dot"],
    "outer": "outer(x, y)",
    "cumsum": "x.cumsum()",
    "roll": "x.roll(1)",
    "flip": "x.flip()",
    "reshape": "x.reshape(Y)",
    "transpose": "x.T",
    "where": "select(c, x) + select(~c, y)",
    "concatenate": ARRAYS["append"],
    "stack": "stack(X)(x, y)",
    "einsum": "contract(labels, x, y)",
    "abs": "absolute(x)",
    "absolute": "diff's absolute(x)",
    "shape": ARRAYS["shape"],
}
"""What takes the place of a function of numpy, for vectors and expressions."""
_STEPS = "it has jumps; write register(name, value, derivative) for a function entry by entry, or compute with v.array"
_FIXED = "nothing is changed in place: make a new vector, V.vec(array), select(c, x) or x + inject(V, k)(d)"
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
    "__int__": ("the integer", _WHOLE),
    "__complex__": ("the complex number", "entries are real; write a pair of vectors for real and imaginary parts"),
    "__setitem__": ("a change x[k] = …", _FIXED),
    "__delitem__": ("a change del x[k]", _FIXED),
    "__contains__": ("a search k in x", "write (v.array == k).any() for entries of a vector"),
}
"""What takes the place of an operator of numbers and arrays, for vectors and expressions."""
