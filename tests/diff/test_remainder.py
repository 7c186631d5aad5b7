"""f(x + t·dx) − f(x) − t·f'(x)(dx) falls as t²: slope 2 on a log–log fit of the smallest t."""

import numpy as np
from hypothesis import given, note, settings

from diff import affine
from tests.function_terms import smooth_function
from tests.strategies import Source, sources
from tests.tangents import difference, moved

STEPS = 2.0 ** -np.arange(4.0, 12.0)


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_second_order_remainder(s: Source) -> None:
    """The slope is at least 2 (3 where the second derivative vanishes), unless the remainder is all rounding.

    Where terms of the second and the third order cancel at one of the steps, there is no slope; then the term of the
    first order, as a polynomial through the remainders has it, is 0.
    """
    f = smooth_function(s)
    note(f)
    x, dx = s.vector(f.dom), s.vector(f.dom)
    value, linear = affine(f, x)
    slope = linear(dx)
    remainders = np.stack([(difference(f(moved(x, t, dx)), value) - t * slope).flat() for t in STEPS])
    lengths = np.linalg.norm(remainders, axis=1)
    size = max(1.0, value.norm(), slope.norm())
    kept = lengths > 1e-12 * size
    if np.count_nonzero(kept) < 3:  # f is linear along dx to rounding
        assert lengths[-1] <= 1e-12 * size
        return
    found, _ = np.polyfit(np.log(STEPS[kept][-4:]), np.log(lengths[kept][-4:]), 1)
    first = np.linalg.norm(np.polynomial.polynomial.polyfit(STEPS, remainders, [1, 2, 3, 4])[1])
    assert found > 1.9 or first < 1e-3 * max(lengths / STEPS), f"the remainder falls as t^{found:.3f}: {lengths}"
