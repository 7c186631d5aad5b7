"""`python -m adjoint.command`: the command without its script."""

import sys

from adjoint.command import main

sys.exit(main(sys.argv[1:]))
