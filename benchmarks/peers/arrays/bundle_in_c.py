"""A peer of bundle adjustment in C: the Jacobian of an observation by SymForce, shared by its `cse`, printed by sympy.

The loop over observations is compiled by gcc when the formulation is made, and called by ctypes.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.row import Call, Given
from benchmarks.timing import optional

FLAGS = ("-O3", "-ffast-math", "-march=native", "-fPIC")
LOOP = """
#include <math.h>
#include <stdint.h>
void jacobian(int64_t n, const double *cs, const double *xs, const double *ws, const double *fs,
              const int64_t *camera_of, const int64_t *point_of, double *restrict js, double *restrict ds) {{
    for (int64_t i = 0; i < n; i++) {{
        const double *c = cs + 11 * camera_of[i], *x = xs + 3 * point_of[i], *w = ws + i, *f = fs + 2 * i;
        double *j = js + 30 * i, *d = ds + i;
        {body}
    }}
}}
"""


def body() -> str:
    """The statements of one observation; a symbol is called by its place in memory."""
    sf, sympy = optional("symforce.symbolic"), optional("sympy")
    c, x, f = ([sf.Symbol(f"{name}[{k}]") for k in range(n)] for name, n in (("c", 11), ("x", 3), ("f", 2)))
    w = sf.Symbol("w[0]")
    r, z = sf.V3(c[:3]), sf.V3(x) - sf.V3(c[3:6])
    angle = sf.sqrt(r.dot(r))
    u = r / angle
    y = sf.cos(angle) * z + sf.sin(angle) * u.cross(z) + (1 - sf.cos(angle)) * u.dot(z) * u
    flat = sf.V2(y[0] / y[2], y[1] / y[2])
    square = flat.dot(flat)
    bend = c[6] * (1 + c[9] * square + c[10] * square * square)
    residual = w * (sf.V2(c[7:9]) + bend * flat - sf.V2(f))
    slopes = [residual.jacobian(sf.Matrix([*c, *x, w]))[i, k] for i in range(2) for k in range(15)]
    common, ends = sf.cse([*slopes, sf.S(1 - w * w).diff(w)])
    lines = [f"const double {name} = {sympy.ccode(sympy.sympify(value))};" for name, value in common]
    targets = [*(f"j[{k}]" for k in range(30)), "d[0]"]
    lines += [f"{to} = {sympy.ccode(sympy.sympify(end))};" for to, end in zip(targets, ends, strict=True)]
    return "\n        ".join(lines)


def compiled(text: str) -> Any:
    """The library of a text in C. Linked with -ffast-math, it would round small numbers to 0 in the whole process."""
    gcc = shutil.which("gcc") or "gcc"
    with tempfile.TemporaryDirectory() as folder:
        source, code, library = (str(Path(folder) / f"loop.{kind}") for kind in ("c", "o", "so"))
        Path(source).write_text(text, "utf-8")
        for command in ([gcc, *FLAGS, "-c", source, "-o", code], [gcc, "-shared", code, "-o", library, "-lm"]):
            subprocess.run(command, check=True)  # noqa: S603 - our own text
        return ctypes.CDLL(library)


def in_c(given: Given) -> Call:
    """2×15 numbers for each observation, and the slope of each weight, in the same arrays at each call."""
    jacobian, count = compiled(LOOP.format(body=body())).jacobian, len(given[2])
    kept = [np.ascontiguousarray(part, dtype=np.int64 if part.dtype.kind == "i" else np.float64) for part in given]
    results = [np.empty((count, 2, 15)), np.empty(count)]
    places = [part.ctypes.data_as(ctypes.c_void_p) for part in (*kept, *results)]

    def run() -> Any:
        jacobian(ctypes.c_int64(count), *places)
        return results

    return Call(run)
