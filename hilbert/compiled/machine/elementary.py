"""Elementary functions from scalar operations: exp, log, expm1, log1p, tanh, sinh, cosh, sin, cos.

They are written once for float64 and float32 by the operations of `Scalars`, and have no branches: a loop that calls
one becomes a loop over vectors. Only |x| > 2¹⁶ in sin and cos is a branch, to libm's function.

| | method | error, ulp |
|---|---|---|
| exp x | x = n·ln 2 + r (Cody & Waite 1980); eʳ a polynomial; two factors 2ⁿ | < 1 |
| log x | x = 2ᵏ·m, √½ ≤ m < √2; ln m = 2·artanh s, s = (m − 1)/(m + 1), as in fdlibm (Sun 1993) | < 1 |
| exp x − 1 | 2ⁿ·(eʳ − 1) + (2ⁿ − 1) from the same parts as exp x | < 2.5 |
| log (1 + x) | log u + c/u, u = 1 + x rounded, c what is lost | < 2.5 |
| tanh x | e/(e + 2), e = exp(±2·abs(x)) − 1 from the same parts | < 2.5 |
| sinh x, cosh x | from the same parts, a quarter of each, so that nothing overflows before | < 2.5 |
| sin x, cos x | x = n·π/2 + r (Cody & Waite) with π/2 in parts; polynomials of r; n mod 4 | < 2.5 |

Bounds hold with fused multiplications and without (`has_fma`), for subnormal numbers, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hilbert.compiled.machine.ir_scalars import Scalars

LARGE = 65536.0
"""sin and cos of larger numbers are libm's."""
LN2_AND_MORE = 0.75
"""The range of sinh and cosh is longer than that of exp by this: ln 2, and more."""
LONG = 8
"""Polynomials of so many coefficients are evaluated as two (measured: a fifth of exp without AVX)."""


def _polynomial(o: Scalars, x: str, coefficients: tuple[float, ...]) -> str:
    """The value by Horner's rule, of long ones as even(x²) + x·odd(x²): half as many steps wait for each other.

    The coefficient of the highest power is first.
    """
    if len(coefficients) >= LONG:
        square = o.mul(x, x)
        even, odd = (coefficients[at::-2][::-1] for at in (len(coefficients) - 1, len(coefficients) - 2))
        return o.fma(_polynomial(o, square, odd), x, _polynomial(o, square, even))
    p = o.number(coefficients[0])
    for c in coefficients[1:]:
        p = o.fma(p, x, o.number(c))
    return p


def _clamped(o: Scalars, x: str, low: float, high: float) -> str:
    """min(max(x, low), high); NaN stays."""
    x = o.select(o.less(x, o.number(low)), o.number(low), x)
    return o.select(o.greater(x, o.number(high)), o.number(high), x)


def _exponential(o: Scalars, x: str) -> tuple[str, str, str]:
    """x ↦ (n, h, q), x = n·ln 2 + r, |r| ≤ ½ ln 2, eʳ = 1 + h + q; n stands in the lowest bits of the first.

    r = h + l with h = x − n·ln 2 for the first part of ln 2, which is exact, and q = r²·P(r) + l.
    """
    c, shifter = o.format.coefficients, o.number(o.format.shifter)
    shifted = o.fma(x, o.number(c.log2_e), shifter)
    n = o.sub(shifted, shifter)
    high = o.fma(n, o.number(-c.ln2[0]), x)
    low = o.mul(n, o.number(-c.ln2[1]))
    r = o.add(high, low)
    return shifted, high, o.fma(o.mul(r, r), _polynomial(o, r, c.exp), low)


def exp(o: Scalars, x: str) -> str:
    """eˣ = eʳ·2ⁿ⁻ᵈ·2ᵈ, where d = 1, but −64 for small results, so that both powers are normal numbers.

    What 1 + h loses is added to q (Dekker's sum of two numbers). The products but the last are exact, so that subnormal
    results are rounded once more at most.
    """
    f = o.format
    x = _clamped(o, x, *f.exp_range)
    shifted, high, rest = _exponential(o, x)
    one = o.number(1.0)
    total = o.add(one, high)
    lost = o.sub(high, o.sub(total, one))
    is_small = o.less(x, o.number(-(f.bias - 27) * 0.693))
    power = o.select_bits(is_small, o.integer(f.one + (64 << f.digits)), o.integer(f.one - (1 << f.digits)))
    scale = o.from_bits(o.add_bits(o.shift_left(o.bits(shifted), f.digits), power))
    y = o.mul(o.add(total, o.add(lost, rest)), scale)
    return o.mul(y, o.select(is_small, o.number(2.0**-64), o.number(2.0)))


def log(o: Scalars, x: str) -> str:
    """ln x = k·ln 2 + ln(1 + f), ln(1 + f) = f − s·(f − z·L(z)), s = f/(2 + f), z = s².

    Unfused, s·(f − z·L(z)) is f²/2 − s·(f²/2 + z·L(z)), which is rounded at smaller numbers.
    k and m = 1 + f are in the bits of x less those of √½; a subnormal x is scaled first. k becomes a number by its bits
    below those of 2⁵² (2²³ in float32).
    """
    return _log(o, x)


def log1p(o: Scalars, x: str) -> str:
    """ln(1 + x) = ln u + c/u for u = 1 + x rounded, where c = x − (u − 1) is what is lost; the sign is that of x."""
    u = o.add(x, o.number(1.0))
    lost = o.sub(x, o.sub(u, o.number(1.0)))
    return o.copysign(_log(o, u, o.div(lost, u)), x)


def _log(o: Scalars, x: str, more: str | None = None) -> str:
    """The logarithm, plus a number that is small beside 1."""
    f, c = o.format, o.format.coefficients
    is_small = o.less(x, o.number(f.smallest))
    scaled = o.select(is_small, o.mul(x, o.number(f.unit)), x)
    i = o.add_bits(o.bits(scaled), o.integer(f.one - f.half_root))
    exponent = o.from_bits(o.add_bits(o.shift_right(i, f.digits), o.integer(f.bias + f.digits << f.digits)))
    zero = f.unit + f.bias
    k = o.sub(exponent, o.select(is_small, o.number(zero + f.digits), o.number(zero)))
    m = o.from_bits(o.add_bits(o.and_bits(i, o.integer((1 << f.digits) - 1)), o.integer(f.half_root)))
    part = o.sub(m, o.number(1.0))
    s = o.div(part, o.add(part, o.number(2.0)))
    z = o.mul(s, s)
    low = o.mul(k, o.number(-c.ln2[1]))
    if more is not None:
        low = o.sub(low, more)
    if o.has_fma:
        less = o.fma(s, o.fma(z, _polynomial(o, z, tuple(-a for a in c.log)), part), low)
    else:
        h = o.mul(o.mul(part, o.number(0.5)), part)
        less = o.add(o.sub(h, o.mul(s, o.add(h, o.mul(z, _polynomial(o, z, c.log))))), low)
    y = o.fma(k, o.number(c.ln2[0]), o.sub(part, less))
    pole = o.select(o.equal(x, o.number(0.0)), o.number(-float("inf")), o.number(float("nan")))
    y = o.select(o.less(x, o.number(float("inf"))), y, x)
    return o.select(o.greater(x, o.number(0.0)), y, pole)


def expm1(o: Scalars, x: str) -> str:
    """eˣ − 1 = 2·(2ⁿ⁻¹·(eʳ − 1) + (2ⁿ⁻¹ − ½)); x itself where |x| is small; the sign is that of x."""
    f = o.format
    shifted, high, rest = _exponential(o, _clamped(o, x, -f.digits - 4.0, f.exp_range[1]))
    bits = o.add_bits(o.shift_left(o.bits(shifted), f.digits), o.integer(f.one - (1 << f.digits)))
    scale = o.from_bits(bits)
    half = o.fma(scale, o.add(high, rest), o.sub(scale, o.number(0.5)))
    is_small = o.less(o.abs(x), o.number(2.0 ** -(f.digits + 2)))
    return o.select(is_small, x, o.copysign(o.mul(half, o.number(2.0)), x))


def tanh(o: Scalars, x: str) -> str:
    """tanh |x| = |e/(e + 2)|, e = exp(±2|x|) − 1 = 2ⁿ·(eʳ − 1) + (2ⁿ − 1); the sign is that of x.

    The rounding of e + 2 weighs less with + for large |x|, as e + 2 grows, and with − for small ones, as it stays
    below 2.
    """
    f = o.format
    a = o.abs(x)
    a = o.select(o.greater(a, o.number(f.tanh_range)), o.number(f.tanh_range), a)
    twice = o.select(o.less(a, o.number(0.15)), o.number(-2.0), o.number(2.0))
    shifted, high, rest = _exponential(o, o.mul(a, twice))
    scale = o.from_bits(o.add_bits(o.shift_left(o.bits(shifted), f.digits), o.integer(f.one)))
    e = o.fma(scale, o.add(high, rest), o.sub(scale, o.number(1.0)))
    return o.copysign(o.div(e, o.add(e, o.number(2.0))), x)


def _quarter(o: Scalars, x: str) -> tuple[str, str]:
    """x ↦ (e^|x|/4, (e^|x| − 1)/4), neither of which overflows where the hyperbolic sine of x does not."""
    f, a = o.format, o.abs(x)
    most = o.number(f.exp_range[1] + LN2_AND_MORE)
    shifted, high, rest = _exponential(o, o.select(o.greater(a, most), most, a))
    bits = o.add_bits(o.shift_left(o.bits(shifted), f.digits), o.integer(f.one - (2 << f.digits)))
    scale, one = o.from_bits(bits), o.number(1.0)
    total = o.add(one, high)
    lost = o.sub(high, o.sub(total, one))
    whole = o.mul(o.add(total, o.add(lost, rest)), scale)
    return whole, o.fma(scale, o.add(high, rest), o.sub(scale, o.number(0.25)))


def sinh(o: Scalars, x: str) -> str:
    """sinh |x| = 2·(q + q/(4q + 1)), q = (e^|x| − 1)/4; x itself where |x| is small; the sign is that of x."""
    _, q = _quarter(o, x)
    half = o.fma(o.number(0.25), o.div(q, o.add(q, o.number(0.25))), q)
    y = o.mul(o.number(2.0), half)
    is_small = o.less(o.abs(x), o.number(2.0 ** -(o.format.digits // 2 + 2)))
    return o.select(is_small, x, o.copysign(y, x))


def cosh(o: Scalars, x: str) -> str:
    """cosh x = 2·(q + 1/(16q)), q = e^|x|/4."""
    q, _ = _quarter(o, x)
    return o.mul(o.number(2.0), o.add(q, o.div(o.number(0.0625), q)))


def _quadrant(o: Scalars, a: str) -> tuple[str, str]:
    """0 ≤ a ≤ 2¹⁶ ↦ (n, r), a = n·π/2 + r and |r| ≤ π/4; n stands in the lowest bits of the first.

    Fused, a − n·p is exact for the first part p of π/2, and each later part adds one rounding of what is left. Else
    each n·p must be exact, so that the parts are shorter, and what the second subtraction loses is added to the third.
    float32 has too few bits for that: its r is made in float64.
    """
    shifter = o.number(o.format.shifter)
    c = o.format.coefficients
    if o.has_fma:
        shifted = o.fma(a, o.number(c.two_over_pi), shifter)
        n, r = o.sub(shifted, shifter), a
        for part in c.half_pi:
            r = o.fma(n, o.number(-part), r)
        return o.bits(shifted), r
    w = o.wide()
    n, r = _rounded_quadrant(w, o.widened(a), c.half_pi_short)
    return o.bits(o.add(o.narrowed(n), shifter)), o.narrowed(r)


def _rounded_quadrant(o: Scalars, a: str, parts: tuple[float, ...]) -> tuple[str, str]:
    """The quotient and the remainder in float64, all products rounded."""
    shifter = o.number(o.format.shifter)
    n = o.sub(o.add(o.mul(a, o.number(o.format.coefficients.two_over_pi)), shifter), shifter)
    first, second, *others = (o.mul(n, o.number(part)) for part in parts)
    before = o.sub(a, first)
    r = o.sub(before, second)
    if others:
        third, last = others
        lost = o.sub(o.sub(before, r), second)
        r = o.sub(o.add(r, o.sub(lost, third)), last)
    return n, r


def _circular(o: Scalars, x: str, quarter: int) -> str:
    """sin(|x| + quarter·π/2), wrong for |x| > 2¹⁶; its sign is changed with that of x if quarter = 0."""
    f, c = o.format, o.format.coefficients
    n, r = _quadrant(o, o.abs(x))
    q = o.mul(r, r)
    sine = o.fma(o.mul(r, q), _polynomial(o, q, c.sin), r)
    cosine = o.fma(o.mul(q, q), _polynomial(o, q, c.cos), o.fma(q, o.number(-0.5), o.number(1.0)))
    by = f.digits + f.bias.bit_length()  # from bit 1 to the sign
    if quarter:
        value = o.select(o.is_odd(n), sine, cosine)
        sign = o.shift_left(o.add_bits(n, o.integer(1)), by)
    else:
        value = o.select(o.is_odd(n), cosine, sine)
        sign = o.xor_bits(o.shift_left(n, by), o.bits(x))
    return o.from_bits(o.xor_bits(o.bits(value), o.and_bits(sign, o.integer(1 << by + 1))))


def sin(o: Scalars, x: str) -> str:
    """sin x = ± sin r or ± cos r, as n mod 4 and the sign of x say; sin(−0) = −0."""
    return o.unless(o.greater(o.abs(x), o.number(LARGE)), _circular(o, x, 0), "sin", x)


def cos(o: Scalars, x: str) -> str:
    """cos x = ± cos r or ± sin r, as n mod 4 says."""
    return o.unless(o.greater(o.abs(x), o.number(LARGE)), _circular(o, x, 1), "cos", x)


FUNCTIONS = {f.__name__: f for f in (exp, expm1, log, log1p, tanh, sinh, cosh, sin, cos)}
"""The functions by name."""
