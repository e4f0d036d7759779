"""Special functions that torch-mlir has no linalg form for.

`decompositions` lists them by the ATen operations that they replace.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

# Lanczos' approximation of the gamma function: Godfrey's coefficients, which Boost and XLA use as well.
LANCZOS_SHIFT = 7
LANCZOS_FIRST = 0.99999999999980993227684700473478
LANCZOS = [
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
]
# The second, fourth, ... number of Bernoulli.
BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730]
# erfc(x) = exp(-x^2) P(x) / Q(x) from 1 to 8, and R(x) / S(x) beyond: Cephes, by S. Moshier.
ERFC_P = [
    2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
    1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
    5.57535335369399327526e2,
]  # fmt: skip
ERFC_Q = [
    1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
    1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2,
]  # fmt: skip
ERFC_R = [
    5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0,
    7.40974269950448939160e0, 2.97886665372100240670e0,
]  # fmt: skip
ERFC_S = [
    1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1, 1.70814450747565897222e1,
    9.60896809063285878198e0, 3.36907645100081516050e0,
]  # fmt: skip
# The inverse of erf near 0 and near 1: Giles, "Approximating the erfinv function", 2010.
ERFINV_NEAR = [
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
]  # fmt: skip
ERFINV_FAR = [
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
]  # fmt: skip


def polynomial(x: torch.Tensor, coefficients: list[float]) -> torch.Tensor:
    """The coefficient of the highest power first."""
    result = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def lanczos(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Where x < 1/2, what it is reflected to; then Lanczos' sum, its derivative, and the logarithm of its base."""
    z = torch.where(x < 0.5, -x, x - 1)
    total, slope = torch.full_like(x, LANCZOS_FIRST), torch.zeros_like(x)
    for i, coefficient in enumerate(LANCZOS, 1):
        total = total + coefficient / (z + i)
        slope = slope - coefficient / ((z + i) * (z + i))
    base = LANCZOS_SHIFT + 0.5
    return z, total, slope, math.log(base) + torch.log1p(z / base)


def of_numbers(form: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A form for integers as well, and in 32 bits for halves, as PyTorch computes them; the number is the last argument."""

    @functools.wraps(form)
    def of(*arguments: Any) -> torch.Tensor:
        *order, x = arguments
        dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        return form(*order, x.to(torch.promote_types(dtype, torch.float32))).to(dtype)

    return of


@of_numbers
def log_gamma(x: torch.Tensor) -> torch.Tensor:
    """aten.lgamma: by reflection below 1/2."""
    z, total, _, log_base = lanczos(x)
    base = LANCZOS_SHIFT + 0.5 + z
    result = (z + 0.5 - base / log_base) * log_base + 0.5 * math.log(2 * math.pi) + torch.log(total)
    part = x.abs() - torch.floor(x.abs())
    part = torch.where(part > 0.5, 1 - part, part)
    sine = torch.log(torch.sin(math.pi * part))
    reflected = torch.where(torch.isinf(sine), -sine, math.log(math.pi) - sine - result)
    result = torch.where(x < 0.5, reflected, result)
    return torch.where(torch.isinf(x), torch.full_like(x, math.inf), result)


@of_numbers
def digamma(x: torch.Tensor) -> torch.Tensor:
    """aten.digamma: by reflection below 1/2; at negative whole numbers it is none."""
    z, total, slope, log_base = lanczos(x)
    result = log_base + slope / total - LANCZOS_SHIFT / (LANCZOS_SHIFT + 0.5 + z)
    # The tangent has the period 1, and large arguments lose its digits.
    part = x + torch.floor(0.5 - x)
    reflected = result - math.pi * torch.cos(math.pi * part) / torch.sin(math.pi * part)
    result = torch.where(x < 0.5, reflected, result)
    result = torch.where((x < 0) & (x == torch.floor(x)), torch.full_like(x, math.nan), result)
    return torch.where(x == 0, -1 / x, result)


def cotangent_derivative(order: int, x: torch.Tensor) -> torch.Tensor:
    """Of cot(pi x): a polynomial in itself, as its first derivative is -pi (1 + cot(pi x)^2)."""
    # The coefficient of the lowest power first.
    coefficients = [0.0, 1.0]
    for _ in range(order):
        slope = [i * coefficient for i, coefficient in enumerate(coefficients)][1:]
        pairs = zip(slope + [0.0, 0.0], [0.0, 0.0] + slope)
        coefficients = [-math.pi * (one + squared) for one, squared in pairs]
    part = x - torch.floor(x)
    return polynomial(torch.cos(math.pi * part) / torch.sin(math.pi * part), coefficients[::-1])


@of_numbers
def polygamma(order: int, x: torch.Tensor) -> torch.Tensor:
    """aten.polygamma, derivatives of digamma: by reflection below 1/2."""
    if order == 0:
        return digamma(x)
    z = torch.where(x < 0.5, 1 - x, x)
    # The sum of (z + k)^-(order + 1) over all k, by Euler and Maclaurin from the tenth term on, as Cephes has it.
    power, shift = order + 1, 10
    total = sum((z + k) ** -power for k in range(shift))
    far = z + shift
    total = total + far**-order / order + 0.5 * far**-power
    factor, term = float(power), far ** -(power + 1)
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * factor * term
        factor *= (power + 2 * k - 1) * (power + 2 * k)
        term = term / (far * far)
    result = (-1) ** (order + 1) * math.factorial(order) * total
    reflected = (-1) ** order * result - math.pi * cotangent_derivative(order, x)
    return torch.where(x < 0.5, reflected, result)


@of_numbers
def complementary_error(x: torch.Tensor) -> torch.Tensor:
    """aten.erfc: by erf below 1, where nothing cancels."""
    size = torch.clamp(x.abs(), min=1.0)
    near = polynomial(size, ERFC_P) / polynomial(size, ERFC_Q)
    far = polynomial(size, ERFC_R) / polynomial(size, ERFC_S)
    tail = torch.exp(-size * size) * torch.where(size < 8, near, far)
    # The quotient is none where its polynomials overflow; nothing is left of the tail there.
    tail = torch.where(size > 30, torch.zeros_like(tail), tail)
    result = torch.where(x.abs() < 1, 1 - torch.erf(x), torch.where(x < 0, 2 - tail, tail))
    return torch.where(x != x, x, result)


@of_numbers
def inverse_error(x: torch.Tensor) -> torch.Tensor:
    """aten.erfinv: Giles' approximation and two steps of Newton's, as PyTorch refines its own."""
    w = -torch.log1p(-x * x)
    near, far = polynomial(w - 2.5, ERFINV_NEAR), polynomial(torch.sqrt(torch.clamp(w, min=5.0)) - 3, ERFINV_FAR)
    result = torch.where(w < 5, near, far) * x
    for _ in range(2):
        result = result - (torch.erf(result) - x) * (math.sqrt(math.pi) / 2) * torch.exp(result * result)
    return torch.where(x.abs() == 1, x * math.inf, result)
