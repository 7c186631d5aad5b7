"""The command `hilbert`: functions in a file are checked, run, differentiated, shown and verified from a shell.

>>> from adjoint.command import main
>>> main(["--version"]) == 0
hilbert 0.1.0
True
"""

from adjoint.command.main import main

__all__ = ["main"]
