"""The public names of the four packages, each of which is an attribute of `hilbert.all`."""

import adjoint
import diff
import hilbert
import linmap

PUBLIC = [*hilbert.__all__, *linmap.__all__, *diff.__all__, *adjoint.__all__]
