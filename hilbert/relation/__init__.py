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

from hilbert.relation import column_keys, compound_forms, function_forms, plain_forms
from hilbert.relation.column_keys import *  # noqa: F403
from hilbert.relation.compound_forms import *  # noqa: F403 - a form is exported where it stands
from hilbert.relation.forms import FORMS, Form
from hilbert.relation.function_forms import *  # noqa: F403
from hilbert.relation.plain_forms import *  # noqa: F403
from hilbert.relation.relation import Function, Prepared, Table, table

__all__ = ["FORMS", "Form", "Function", "Prepared", "Table", "table"]
__all__ += compound_forms.__all__
__all__ += function_forms.__all__
__all__ += column_keys.__all__
__all__ += plain_forms.__all__
