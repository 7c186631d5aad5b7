"""Each module of the library imported first: `python -m tests.each_first [MODULE …]` prints those that cannot be.

A process that has only numpy and attrs forks for each module, so that one import hides nothing of another.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

PACKAGES = ("hilbert", "linmap", "diff", "adjoint")
ROOT = Path(__file__).parents[1]


def modules() -> list[str]:
    """All modules but those that are run as commands."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]
    return [name for name in names if not name.endswith("__main__")]


def fails(name: str) -> bool:
    """Whether the module cannot be imported in a process that has imported no other."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    try:
        import_module(name)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent says which module
        sys.stderr.write(f"{name}: {error!r}\n")
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    import_module("numpy")
    import_module("attrs")
    failed = [name for name in sys.argv[1:] or modules() if fails(name)]
    sys.stdout.write("\n".join(failed))
    sys.exit(bool(failed))
