"""The packages are imported before pytest collects their files.

pytest's mode "importlib" imports the package of a file first, and runs the file then, also where the package has
imported it by then: `pytest diff/custom.py` had each of its classes twice.
"""

import hilbert.all  # noqa: F401 - for what the docstring says
