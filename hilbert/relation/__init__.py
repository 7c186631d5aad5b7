"""Relations R ⊆ X × Y as symbolic objects, closed under transpose (paper §2.1, §2.2.3).

>>> from hilbert import Fin
>>> X, Y = Fin.of(4), Fin.of(2)
>>> R = function([0, 1, 1, 0], X, Y)
>>> [p.tolist() for p in R.holds()]
[[0, 1, 2, 3], [0, 1, 1, 0]]
>>> R.T.T == R
True
>>> print(R.picture())
█··█
·██·
"""

import hilbert.relation.operators  # noqa: F401 - attaches R * S, R + S and S @ R
from hilbert.relation import compound, functions, keys, plain
from hilbert.relation.base import Function, Prepared, Table, table
from hilbert.relation.compound import *  # noqa: F403 - a form is exported where it stands
from hilbert.relation.forms import FORMS, Form
from hilbert.relation.functions import *  # noqa: F403
from hilbert.relation.keys import *  # noqa: F403
from hilbert.relation.plain import *  # noqa: F403

__all__ = ["FORMS", "Form", "Function", "Prepared", "Table", "table"]
__all__ += compound.__all__
__all__ += functions.__all__
__all__ += keys.__all__
__all__ += plain.__all__
