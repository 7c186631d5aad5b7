"""Special functions, entry by entry, with all derivatives."""

from diff import (
    betaln,
    digamma,
    entr,
    erfc,
    erfcx,
    i0e,
    i1e,
    lgamma,
    log_ndtr,
    log_sigmoid,
    ndtri,
    polygamma,
    sinc,
    xlogy,
)

__all__ = [
    "betaln",
    "digamma",
    "entr",
    "erfc",
    "erfcx",
    "i0e",
    "i1e",
    "lgamma",
    "log_ndtr",
    "log_sigmoid",
    "ndtri",
    "polygamma",
    "sinc",
    "xlogy",
]
