"""A plugin of pytest that imports every module of the packages, in the order of the layers, before a file is run.

The mode in which pytest imports files runs the file of a module anew where nobody has imported the module by then, and
each of its classes would be there twice: `pytest diff/terms/untraced_functions.py` collects one file alone. Tables that
packages fill, and methods that they attach, are complete.
"""

from importlib import import_module
from pkgutil import walk_packages

for package in ("hilbert", "linmap", "diff", "adjoint"):
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
