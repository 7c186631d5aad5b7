"""Single precision stays single precision, and NaN passes through."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from hilbert import R32
from hilbert.program.line.operation import Literal
from linmap.net.apply import line
from linmap.net.lower import net
from linmap.term.linear_map import LinMap
from linmap.term.net import Net
from linmap.term.nodes import Cast, Own, Reduce
from tests.linear_terms import NODES
from tests.oracle import matrix
from tests.strategies import FORMS, Source, sources


@pytest.mark.parametrize("cls", [cls for cls in NODES if cls not in {Cast, Net, Own}])
@settings(max_examples=12)
@given(s=sources(single=False))
def test_every_slot_is_in_single_precision(cls: type, s: Source) -> None:
    """A map between spaces over ℝ₃₂ has no wire, no constant and no intermediate array in double precision."""
    single = Source(s.draw, R32)
    f: LinMap[Any, Any] = NODES[cls](single, 3)
    note(f)
    assert all(leaf.dtype == "float32" for leaf in net(f).wires)
    constants = [step.operation.value for step in line(net(f)).steps if isinstance(step.operation, Literal)]
    assert all(c.array.dtype == np.float32 for c in constants if c.leaf.is_field)
    assert all(leaf.dtype == np.float32 for leaf in f(single.vector(f.dom)).leaves)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(s=sources(single=False))
def test_nan_passes_through_reductions(form: str, s: Source) -> None:
    """(red_R v)_y is NaN exactly where a related v_x is."""
    f = Reduce(FORMS[form](s), s.field)
    array = s.vector(f.dom).flat().copy()
    if array.size:
        array[s.integer(0, array.size - 1)] = np.nan
    found = f(f.dom.unflat(array)).flat()
    related = matrix(f)
    due = [any(np.isnan(array[related[y] != 0])) for y in range(f.cod.dim)]
    assert np.isnan(found).tolist() == due
