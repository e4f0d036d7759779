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
# The inverse of the normal distribution: around 1/2, and by z = sqrt(-2 log p) from 2 to 8 and beyond: Cephes, by S. Moshier.
NORMAL_P = [
    -5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1,
    -1.23916583867381258016e0,
]  # fmt: skip
NORMAL_Q = [
    1.00000000000000000000e0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1,
    -2.25462687854119370527e2, 2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1,
    -1.18331621121330003142e0,
]  # fmt: skip
TAIL_P = [
    4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
    1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
    -8.57456785154685413611e-4,
]  # fmt: skip
TAIL_Q = [
    1.00000000000000000000e0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1,
    1.50425385692907503408e1, 2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2,
    -9.33259480895457427372e-4,
]  # fmt: skip
FAR_TAIL_P = [
    3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
    2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6,
    6.23974539184983293730e-9,
]  # fmt: skip
FAR_TAIL_Q = [
    1.00000000000000000000e0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0,
    2.16236993594496635890e-1, 1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6,
    6.79019408009981274425e-9,
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


def scaled_tail(size: torch.Tensor) -> torch.Tensor:
    """exp(x^2) erfc(x) from 1 on. Beyond 50 its polynomials would overflow."""
    some = torch.clamp(size, min=1.0, max=50.0)
    near, far = polynomial(some, ERFC_P) / polynomial(some, ERFC_Q), polynomial(some, ERFC_R) / polynomial(some, ERFC_S)
    inverse = 1 / torch.clamp(size, min=50.0)
    square = inverse * inverse
    series = inverse / math.sqrt(math.pi) * (1 - square * (0.5 - square * (0.75 - square * 1.875)))
    return torch.where(size < 8, near, torch.where(size < 50, far, series))


@of_numbers
def complementary_error(x: torch.Tensor) -> torch.Tensor:
    """aten.erfc: by erf below 1, where nothing cancels."""
    size = torch.clamp(x.abs(), min=1.0)
    tail = torch.exp(-size * size) * scaled_tail(size)
    result = torch.where(x.abs() < 1, 1 - torch.erf(x), torch.where(x < 0, 2 - tail, tail))
    return torch.where(x != x, x, result)


@of_numbers
def scaled_complementary_error(x: torch.Tensor) -> torch.Tensor:
    """aten.special_erfcx: exp(x^2) erfc(x)."""
    tail, growth = scaled_tail(x.abs()), torch.exp(x * x)
    result = torch.where(x.abs() < 1, growth * (1 - torch.erf(x)), torch.where(x < 0, 2 * growth - tail, tail))
    return torch.where(x != x, x, result)


@of_numbers
def inverse_normal(x: torch.Tensor) -> torch.Tensor:
    """aten.special_ndtri."""
    edge = math.exp(-2)
    offset = x - 0.5
    square = offset * offset
    middle = math.sqrt(2 * math.pi) * (offset + offset * (square * (polynomial(square, NORMAL_P) / polynomial(square, NORMAL_Q))))
    least = torch.clamp(torch.minimum(x, 1 - x), max=edge)
    root = torch.sqrt(-2 * torch.log(least))
    inverse = 1 / root
    near = polynomial(inverse, TAIL_P) / polynomial(inverse, TAIL_Q)
    far = polynomial(inverse, FAR_TAIL_P) / polynomial(inverse, FAR_TAIL_Q)
    tail = root - torch.log(root) / root - inverse * torch.where(root < 8, near, far)
    tail = torch.where(least == 0, torch.full_like(tail, math.inf), tail)
    return torch.where((x > edge) & (x < 1 - edge), middle, torch.where(x < 0.5, -tail, tail))


@of_numbers
def inverse_error(x: torch.Tensor) -> torch.Tensor:
    """aten.erfinv: Giles' approximation and two steps of Newton's, as PyTorch refines its own."""
    w = -torch.log1p(-x * x)
    near, far = polynomial(w - 2.5, ERFINV_NEAR), polynomial(torch.sqrt(torch.clamp(w, min=5.0)) - 3, ERFINV_FAR)
    result = torch.where(w < 5, near, far) * x
    for _ in range(2):
        result = result - (torch.erf(result) - x) * (math.sqrt(math.pi) / 2) * torch.exp(result * result)
    return torch.where(x.abs() == 1, x * math.inf, result)
