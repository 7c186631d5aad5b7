"""python -m adjoint.higher FILE …: run the claims of texts, `reduce` and `pair` among them."""

from __future__ import annotations

import sys

from adjoint.higher import run
from diff.higher.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], run, "adjoint.higher"))
