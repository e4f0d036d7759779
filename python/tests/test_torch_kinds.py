"""Kinds of operations of PyTorch, with their gradients, in the engine of the project."""

import importlib.util
import inspect
import math

import mpmath
import pytest
import torch
import torch.nn.functional as F

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)

from ckpt.export.torch import decompositions  # noqa: E402


def stored(x, *indices):
    changed = x.clone()
    changed[indices] = 3 * x[indices]
    return changed


def masked(x, mask, values):
    changed = x.clone()
    changed[mask] = values
    return changed


def attended(x):
    query, key, value = ((x @ torch.eye(6)).view(1, 2, 2, 3, 2)[..., i, :].transpose(1, 2) for i in range(3))
    return torch.softmax(query @ key.transpose(-1, -2), -1) @ value


BAGS = torch.tensor([1, 2, 0, 3, 3, 1, 2])
CONSTANT = torch.tensor([0.8])
PAIRS = torch.tensor([[0, 1], [2, 3], [1, 1], [5, 4]])
KINDS = {
    "adaptive average pooling of volumes": lambda x: F.adaptive_avg_pool3d(x.reshape(1, 2, 3, 4), (2, 2, 3)),
    "adaptive average pooling, windows of one size": lambda x: F.adaptive_avg_pool2d(x[None, None], (2, 3)),
    "adaptive average pooling, windows of several sizes": lambda x: F.adaptive_avg_pool2d(x[None, None], (3, 4)),
    "adaptive max pooling of volumes": lambda x: F.adaptive_max_pool3d(x.reshape(1, 2, 3, 4), (2, 2, 3)),
    "adaptive max pooling, windows of several sizes": lambda x: math.prod(F.adaptive_max_pool2d(x.round()[None], (3, 4), True)),
    "adaptive max pooling": lambda x: F.adaptive_max_pool2d(x[None, None], 2),
    "bags of embeddings": lambda x: F.embedding_bag(BAGS, x, torch.tensor([0, 3, 3, 6]), mode="mean", padding_idx=1),
    "bicubic interpolation": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bicubic"),
    "bilinear interpolation": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear", align_corners=True),
    "combinations": lambda x: torch.combinations(x[0], 3) + torch.combinations(x[1, :4], 3, True)[:, :1],
    "constants and negative whole numbers": lambda x: x * ((CONSTANT * -1 + (CONSTANT + -2) - (CONSTANT - -3)) / (CONSTANT % -3)),
    "convolutions of volumes in groups": lambda x: F.conv3d(x.reshape(1, 2, 2, 3, 2), x[:2, :4].reshape(4, 1, 2, 1, 1), x[2, :4], padding=1, groups=2),
    "copied sign": lambda x: torch.copysign(x, x.flip(0) * torch.tensor([0.0, 1, -1, -0.0, 2, 1])),
    "correlations": lambda x: torch.corrcoef(x),
    "covariances with weights": lambda x: torch.cov(x, fweights=torch.tensor([1, 2, 0, 3, 1, 1]), aweights=x[0].detach().abs()),
    "covariances": lambda x: torch.cov(x, correction=0),
    "cumulative extremes of ties": lambda x: x.round().cummax(0).values * x.round().cummax(0).indices,
    "cumulative extremes": lambda x: x.cummax(1).values + x.cummin(0).values,
    "diagonals below the main one": lambda x: torch.diagonal(x, -2),
    "diagonals": lambda x: torch.diagonal(x.reshape(2, 2, 6), 2, -1, 0),
    "distances of pairs": lambda x: F.pdist(x, 3),
    "distances": lambda x: torch.cdist(x, x) + torch.cdist(x, x, p=1) + torch.dist(x, x.flip(0)),
    "elements in the place of a mask": lambda x: x.masked_scatter(x > 0, 2 * x.flatten()),
    "elements of a rank": lambda x: x.kthvalue(2, 0).values + x.median(0).values + x.nanmedian(),
    "elements of one number": lambda x: x[0, 0].gather(0, PAIRS[0] * 0) * x[0, 1].index_select(0, PAIRS[0, :1] * 0) + x[0, 2].topk(1).values * x[0, 3].prod(0) * x[0, 3].any(0) + x[0, 4].max(0).values.scatter(0, PAIRS[0, 0] * 0, x[0, 5]),
    "elements in the place of a larger mask": lambda x: x[0].masked_scatter(x > 0, 2 * x.flatten()),
    "gathers along the last dimension": lambda x: x.gather(-1, PAIRS),
    "Gaussian likelihoods": lambda x: F.gaussian_nll_loss(x, x.flip(0), x.abs(), full=True),
    "equal rows in the place of a mask": lambda x: masked(x, (x[:, 0] > 0,), x[0]) + masked(x, (slice(None), x[0] > 0), x[:, :1]) + masked(x, (x > 1,), x[0, 0]),
    "hypotenuse": lambda x: torch.hypot(x, 2 * x.flip(0)),
    "indices with a gap": lambda x: stored(x.reshape(2, 2, 6), torch.tensor([0, 1]), slice(None), torch.tensor([1, 2])),
    "largest and mean elements of windows without a batch": lambda x: F.max_pool2d(x[None], 2, 2, 1) + F.avg_pool2d(x[None], 2, 2, 1),
    "logarithms of summed exponentials": lambda x: (9 * x).logcumsumexp(1),
    "parts of one projection": attended,
    "places among sorted elements": lambda x: x * torch.searchsorted(x.sort(1).values, x, right=True) + torch.bucketize(x, x[0].sort().values),
    "places of a grid": lambda x: F.grid_sample(x[None, None], 3 * torch.tanh(x.reshape(1, 3, 4, 2)), padding_mode="reflection", align_corners=False),
    "places of a volume": lambda x: F.grid_sample(x.reshape(1, 1, 2, 3, 4), torch.tanh(x.reshape(1, 2, 2, 2, 3)), align_corners=False),
    "places of a grid, the nearest": lambda x: F.grid_sample(x[None, None], torch.tanh(x.reshape(1, 3, 4, 2)), mode="nearest", align_corners=True),
    "places of the flattened tensor": lambda x: torch.take(x, PAIRS) + x.put(PAIRS, PAIRS.float(), accumulate=True).sum(),
    "products of a matrix and a vector": lambda x: torch.addmv(x[:, 0], x, x[0], beta=0.5, alpha=2),
    "quantiles": lambda x: x.quantile(0.3, 1),
    "random slopes without training": lambda x: F.rrelu(x, 0.2, 0.4),
    "reductions at an index": lambda x: torch.ones(3, 6).index_reduce(0, torch.tensor([2, 0, 2, 0]), x, "amax"),
    "remainders": lambda x: torch.fmod(x, 0.7),
    "repeated elements": lambda x: x[:2].repeat_interleave(torch.tensor([3, 1]), 0, output_size=4),
    "replaced diagonals": lambda x: torch.diagonal_scatter(x, x[0, :4], 1),
    "replicated padding": lambda x: F.pad(x[None, None], (1, 2, 3, 0), mode="replicate"),
    "rolls of a whole turn": lambda x: x.unfold(0, 2, 1).roll(2, -1).flatten(),
    "rolls": lambda x: x.roll((1, -2), (0, -1)) + x.roll(5),
    "scattered largest elements": lambda x: x.scatter_reduce(-1, PAIRS, x[:, :2], "amax"),
    "scattered sums": lambda x: x.scatter_add(-1, PAIRS, x[:, :2]),
    "soft and hard thresholds": lambda x: F.softshrink(x) + F.hardshrink(2 * x),
    "reductions of numbers": lambda x: x * x[0, 0].amax(0) + x[0, 1].logsumexp(0) + x[0, 2].index_reduce(0, torch.tensor([0]), x[0, 3], "prod"),
    "special functions of distributions": lambda x: torch.special.i0(x) + torch.special.i1(3 * x) + torch.special.log_ndtr(4 * x) + torch.special.ndtri(x.sigmoid()),
    "special functions": lambda x: x.lgamma() + (3 * x).erfc() + torch.erfinv(torch.tanh(x)),
    "transposed convolution in groups": lambda x: F.conv_transpose1d(
        x[None], torch.arange(16.0).reshape(4, 2, 2) / 10, stride=2, groups=2
    ),
    "transposed convolution with much padding of its output": lambda x: F.conv_transpose2d(
        x[None, None], torch.arange(24.0).reshape(1, 2, 3, 4) / 10, stride=2, padding=3, output_padding=(3, 2), dilation=4
    ),
    "transposed convolution with much padding, its weights": lambda x: F.conv_transpose1d(
        torch.arange(24.0).reshape(1, 4, 6) / 10, x.reshape(4, 2, 3), stride=2, output_padding=3, dilation=4
    ),
    "transposed convolution": lambda x: F.conv_transpose2d(
        x[None, None], torch.arange(24.0).reshape(1, 2, 3, 4) / 10, torch.ones(2), stride=2, padding=1, output_padding=1
    ),
    "writes at indices from the end": lambda x: stored(x, torch.tensor([-1, 0])) + x[:, [-1, 2]].sum() + x[:, torch.tensor([-2]).int()].sum(),
    "windows along the last dimension": lambda x: x.unfold(-1, 3, 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients(kind):
    def step(x):
        x = x.detach().requires_grad_()
        result = KINDS[kind](x)
        return result, *torch.autograd.grad(result.tanh().sum(), [x])

    torch.manual_seed(0)
    x = torch.randn(4, 6)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["gammaln", "digamma", "erfc", "erfinv", "erfcx", "i0", "i0e", "i1", "i1e", "log_ndtr", "ndtri"])
def test_special_functions_at_their_ends(name):
    function = getattr(torch.special, name)
    x = torch.tensor([-torch.inf, -28, -7.5, -3, -1, -0.5, 0, 1e-6, 0.5, 1, 3, 8.5, 28, 1e4, torch.inf, torch.nan], dtype=torch.float64)
    if name in ("i0", "i1"):
        x = x[~torch.isinf(x)]  # PyTorch gives none there.
    torch.testing.assert_close(ckpt.compile(function, x, time_limit=0)(x), function(x), rtol=1e-10, atol=0, equal_nan=True)


@pytest.mark.parametrize("ends", [[3, 3, 8], [0, 1, 1, 6, 6, 8]])
def test_products_of_groups(ends):
    ends = torch.tensor(ends, dtype=torch.int32)

    def step(rows, weights, columns):
        rows, weights = rows.detach().requires_grad_(), weights.detach().requires_grad_()
        result = torch._grouped_mm(rows, weights, offs=ends)
        of_columns = torch._grouped_mm(columns, rows.detach(), offs=ends)
        return result, of_columns, *torch.autograd.grad(result.tanh().sum(), [rows, weights])

    arguments = torch.randn(8, 16), torch.randn(len(ends), 16, 16), torch.randn(16, 8)
    for ours, theirs in zip(ckpt.compile(step, *arguments, time_limit=0)(*arguments), step(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-4)


def test_many_groups_do_not_multiply_all_rows_each():
    rows, weights, ends = torch.randn(64, 32), torch.randn(16, 32, 32), torch.arange(4, 65, 4, dtype=torch.int32)
    compiled = ckpt.compile(lambda x, y, ends: torch._grouped_mm(x, y, offs=ends), rows, weights, ends, time_limit=0)
    assert 0 < compiled.report.figures["flops"] < 4 * 2 * 64 * 32 * 32


@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_weights_are_no_sum_over_images_of_many_channels(stride):
    def step(images, weight):
        images, weight = images.detach().requires_grad_(), weight.detach().requires_grad_()
        return torch.autograd.grad(F.conv2d(images, weight, None, stride, 1).tanh().sum(), [images, weight])

    images, weight = torch.randn(8, 32, 4, 4), torch.randn(32, 32, 3, 3) / 10
    compiled = ckpt.compile(step, images, weight, time_limit=0)
    for ours, theirs in zip(compiled(images, weight), step(images, weight), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    assert compiled.arena_bytes < len(images) * weight.nbytes


@pytest.mark.parametrize("options", [{}, {"reduction": "sum", "zero_infinity": True}, {"reduction": "none", "blank": 2}])
def test_connectionist_losses(options):
    # Four equal labels need seven times: the loss is infinite.
    last = 4 if "zero_infinity" in options else 3
    targets, lengths = torch.tensor([[1, 3, 3, 0], [4, 1, 0, 0], [3, 3, 3, 3]]), torch.tensor([3, 1, last])

    def step(x):
        x = x.detach().requires_grad_()
        loss = F.ctc_loss(x.log_softmax(-1), targets, torch.tensor([6, 4, 6]), lengths, **options)
        return loss, *torch.autograd.grad(loss.sum(), [x])

    x = torch.randn(6, 3, 5)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_tensors_without_elements():
    def step(x):
        x = x.detach().requires_grad_()
        empty = x[:0]
        results = (empty.cos().reshape(3, 0), torch.cat([empty, x]), empty.T @ empty, empty.sum(0), torch.cdist(empty, x))
        return *results, *torch.autograd.grad(sum(each.sum() for each in results), [x])

    x = torch.randn(4, 6)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs.detach())


def test_variances_of_few_numbers():
    step = lambda x: (x[:0].var(0), *torch.var_mean(x[:0]), x[:0].std(), x.var(0, correction=5), x[:1].std(0))
    x = torch.randn(4, 6)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_booleans():
    places = torch.tensor([0, 0, 2])
    filled = lambda x: (torch.full((2,), 6, dtype=torch.bool), torch.full_like(x, 0.5), x.masked_fill(x, 4), x.new_full((1,), 2), x.clone().fill_(8))
    added = lambda x: (x.scatter_add(0, places, x[[0, 0, 1]]), x.index_put((places,), x[[0, 0, 1]], True), x.scatter_reduce(0, places, ~x, "sum"))
    step = lambda x: (*filled(x), *added(x), x + x.flip(0), x + True, torch.fmax(x, x[0]), x.clamp(max=x[1]), x.clamp_min(x[0]), x.clamp(0, 3))
    x = torch.tensor([True, False, True])
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_copies_of_views():
    step = lambda x: (torch.permute_copy(x, (1, 0)), *torch.unbind_copy(x[:2]), torch.view_copy(x, (3, 8)), torch.narrow_copy(x, 0, 1, 2))
    x = torch.randn(4, 6)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_numbers_in_tensors_are_indices():
    def step(x, i, j):
        x = x.detach().requires_grad_()
        read = x[i], x[:, j], x[..., i, :], x[1, :, j], x[None, i], x[0, j, 1], x[:, ::2][:, j], x[..., i, None]
        written = torch.zeros(3, 4, 5)
        written[:, j] = read[1]
        written[0, i, 1:3] = 2 * x[0, 0, :2]
        written[..., i] += 3
        return *read, written, *torch.autograd.grad(sum(each.tanh().sum() for each in (*read, written)), [x])

    arguments = torch.randn(3, 4, 5), torch.tensor(2), torch.tensor(-1, dtype=torch.int32)
    for ours, theirs in zip(ckpt.compile(step, *arguments, time_limit=0)(*arguments), step(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs.detach())


def test_operations_on_lists_of_tensors():
    def step(x, y):
        lists = [x, y]
        doubled, norms = torch._foreach_mul(lists, 2), torch._foreach_norm(lists, 1)
        z = torch._foreach_pow(2.0, lists)
        torch._foreach_add_(z, doubled, alpha=3)
        torch._foreach_lerp_(z, doubled, 0.3)
        torch._foreach_addcmul_(z, lists, doubled, value=0.5)
        torch._foreach_addcdiv_(z, lists, z, torch.tensor([1.0, 2.0]))
        torch._foreach_maximum_(z, 0.2)
        torch._foreach_copy_(lists, torch._foreach_sub(z, [1.0, 2.0]))
        torch._foreach_zero_(doubled[:1])
        torch.foreach.addcmul_(z, z, z, value=[2.0, 3.0])
        return *lists, *doubled, *norms, *z, *torch._foreach_minimum(z, doubled), *torch.foreach.tanh(z)

    arguments = torch.randn(4), torch.randn(2, 3)
    ours, theirs = ([each.clone() for each in arguments] for _ in range(2))
    for mine, wanted in zip(ckpt.compile(step, *arguments, time_limit=0)(*ours), step(*theirs), strict=True):
        torch.testing.assert_close(mine, wanted)
    torch.testing.assert_close(ours, theirs)


def test_gradients_of_pooling_in_bfloat16():
    def step(x):
        x = x.detach().requires_grad_()
        result = F.avg_pool1d(x, 3, 2, 1) + F.lp_pool1d(x, 2, 3, 2)[..., :1]
        return result, *torch.autograd.grad(result.sum(), [x])

    x = torch.rand(1, 2, 9).bfloat16() + 1
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=2e-2, atol=2e-2)


def test_rows_in_the_order_of_a_mask():
    def step(x, rows):
        mask = torch.tensor([True, False, True, True])
        return x.index_put((mask,), rows), x.index_put((mask,), rows[0], accumulate=True), x.index_put((x > 9,), x[:0].flatten())

    arguments = torch.randn(4, 6), torch.randn(3, 6)
    for ours, theirs in zip(ckpt.compile(step, *arguments, time_limit=0)(*arguments), step(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_counts():
    def step(x):
        whole = (4 * x).int()
        products = torch.addmv(whole[:, 0], whole, whole[0], beta=0.5, alpha=2.5), torch.addmm(whole, whole @ whole.T, whole, beta=0, alpha=3), torch.addbmm(whole, whole.reshape(1, 4, 6), whole[None].mT @ whole)
        pooled = *F.max_pool3d(whole[None, None], (1, 2, 2), return_indices=True), F.max_pool2d(whole[None], 2), F.avg_pool2d(whole[None].long(), 2)
        extremes = *(whole > 0).cummax(1), torch.copysign(whole, x), whole[0, 0].argmax(), *x[0, 0].min(0)
        powers = whole ** whole[0], 2 ** whole, 2.5 ** whole, whole ** 5, (whole.sign() - 1) ** 71
        scattered = whole.scatter(1, PAIRS, whole[:, :2], reduce="add"), whole.scatter(1, PAIRS, 3, reduce="multiply")
        means = whole.scatter_reduce(1, PAIRS, whole[:, :2], "mean"), whole.index_reduce(1, PAIRS[0], whole[:, :2], "mean", include_self=False)
        return x.histc(5, -1, 1), x.histc(3), torch.fmin(whole, whole[0, 0]), x.round().histc(4), whole.cumsum(0, dtype=torch.int32), whole.cumprod(1), *products, *extremes, *powers, *scattered, *means, *pooled

    x = torch.randn(4, 6)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bfloat16])
def test_special_functions_of_other_types(dtype):
    step = lambda x: (x.lgamma(), x.digamma(), torch.polygamma(2, x), x.erfc(), torch.erfinv(x / 50))
    x = torch.tensor([1, 2, 3, 7, 40]).to(dtype)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_polygamma_on_both_sides(order):
    x = torch.tensor([-9.2, -0.3, 1e-5, 0.3, 1, 2.5, 30], dtype=torch.float64)
    wanted = torch.tensor([float(mpmath.psi(order, each)) for each in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(ckpt.compile(lambda x: torch.polygamma(order, x), x, time_limit=0)(x), wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("value", [2.0, -3.5, 0.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_constants_have_the_numbers_of_pytorch(value, dtype):
    def step(x):
        constant = torch.full((3,), value, dtype=dtype)
        kept = [constant > 0, constant < 1, constant == 2, constant != 0, torch.where(constant >= 0, x, -x)]
        return *kept, torch.sign(constant), torch.trunc(constant), torch.frac(constant), 0.1 - x.double(), x.double() ** -1

    x = torch.randn(3)
    # torch-mlir's mistakes depended on memory that it had not written.
    for _ in range(2):
        for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["addmm", "baddbmm", "addmv", "addbmm"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sums_of_products_are_rounded_once(name, dtype):
    """With the coefficients of Muon, whose steps lost digits that PyTorch keeps where each factor was rounded."""
    torch.manual_seed(0)
    x, first = torch.randn(3, 8, 8).to(dtype), torch.randn(3, 8, 8).to(dtype)
    operands = {"addmm": (x[0], x[1], first[0]), "addmv": (x[0, 0], x[1], x[2, 0]), "addbmm": (x[0], x, first), "baddbmm": (x, x, first)}[name]
    step = lambda *operands: getattr(torch, name)(*operands, beta=-4.775, alpha=2.0315)
    ours, exact = ckpt.compile(step, *operands, time_limit=0)(*operands), step(*(each.double() for each in operands))
    torch.testing.assert_close(ours, exact.to(dtype), atol=0, rtol=torch.finfo(dtype).eps)


def test_a_form_of_another_type_is_refused(monkeypatch):
    monkeypatch.setitem(decompositions.OWN, torch.ops.aten.floor.default, lambda x: x.to(torch.int64))
    with pytest.raises(ckpt.UnsupportedStep, match="result 0 of the step is of torch.float32, but its form here gives torch.int64"):
        ckpt.compile(torch.floor, torch.randn(3))


def test_numbers_that_are_none_stay():
    def step(x):
        bounds = x.flip(0)
        return (
            x.clamp(-1, 1), x.clamp(min=0), x.clamp(bounds, bounds + 1), F.relu6(x), F.hardtanh(x), F.relu(x),
            torch.maximum(x, bounds), torch.minimum(x, bounds), torch.fmax(x, x[2]), torch.fmin(bounds, x[0]), x == x, x != x, x.amax(0), *x.max(0), *x.reshape(2, 4).min(1), x.argmax(), x.argmin(), x.sort().values, torch.sqrt(x), x**0.5,
        )  # fmt: skip

    x = torch.tensor([torch.nan, 1.0, -2.0, 0.5, 3.0, torch.nan, torch.inf, -torch.inf])
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x):
        return self.layers(x[None])[0]


class WeightNorm(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(6, 4)), torch.nn.PReLU())


class Likelihood(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parameters_of = torch.nn.Linear(6, 3)

    def forward(self, x):
        mean, scale, freedom = self.parameters_of(x).chunk(3, -1)
        return torch.distributions.StudentT(2 + F.softplus(freedom), mean, F.softplus(scale)).log_prob(x[:, :1])


class Translation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Transformer(6, 2, 1, 1, 8, dropout=0.0)

    def forward(self, x):
        return self.layers(x, x.flip(0), tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(4))


class Frozen(torch.nn.Sequential):
    """A batch norm that normalizes by its statistics, which the step captures."""

    def __init__(self):
        norm = torch.nn.BatchNorm1d(6).eval()
        norm.running_mean += torch.randn(6)
        norm.running_var *= 2
        super().__init__(torch.nn.Linear(6, 6), norm, torch.nn.ReLU())


@pytest.mark.parametrize("model", [Recurrent, WeightNorm, Likelihood, Translation, Frozen])
def test_gradients_of_modules(model):
    torch.manual_seed(0)
    module, x = model(), torch.randn(4, 6)

    def step(weights, x):
        weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        loss = torch.func.functional_call(module, weights, (x,)).square().mean()
        return loss, dict(zip(weights, torch.autograd.grad(loss, list(weights.values()))))

    weights = dict(module.named_parameters())
    (loss, gradients), (wanted_loss, wanted) = ckpt.compile(step, weights, x, time_limit=0)(weights, x), step(weights, x)
    torch.testing.assert_close(loss, wanted_loss.detach())
    for name, gradient in wanted.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-4, atol=1e-5)


def hessian(weight, x):
    return torch.func.hessian(lambda weight: torch.tanh(x @ weight).square().sum())(weight)


def gradients_of_examples(weight, x):
    return torch.func.vmap(torch.func.grad(lambda weight, x: torch.sin(weight @ x)), (None, 0))(weight, x)


def optimized(weight, x):
    weight = weight.detach().clone().requires_grad_()
    optimizer = torch.optim.AdamW([weight], 0.1)
    torch.tanh(x @ weight).sum().backward()
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    optimizer.step()
    return weight.detach()


@pytest.mark.parametrize("step", [hessian, gradients_of_examples, optimized])
def test_steps_by_other_means_than_autograd_grad(step):
    torch.manual_seed(0)
    arguments = torch.randn(6), torch.randn(4, 6)
    torch.testing.assert_close(ckpt.compile(step, *arguments, time_limit=0)(*arguments), step(*arguments), rtol=1e-4, atol=1e-5)


CAPTURED = torch.ones(4)


def refused_special(x):
    return torch.special.bessel_j0(x + CAPTURED) + x.mode(0).values


def refused_factorization(x):
    return torch.linalg.eigvalsh(x.reshape(2, 2))


def refused_draw(x):
    return x + torch.poisson(x.abs())


def refused_size(x):
    return x[x > 0].sum()


def refused_branch(x):
    return x if x.sum() > 0 else 2 * x


def refused_condition(x):
    return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


@pytest.mark.parametrize(
    "step", [refused_special, refused_factorization, refused_draw, refused_size, refused_branch]
)
def test_refusals_name_the_line(step):
    line = inspect.getsourcelines(step)[1] + 1
    with pytest.raises(ckpt.UnsupportedStep, match=rf"test_torch_kinds.py:{line}\)"):
        ckpt.compile(step, torch.randn(4))


def test_control_flow_is_refused_with_another_way():
    with pytest.raises(ckpt.UnsupportedStep, match=r"test_torch_kinds.py:\d+\), such as torch.cond .* write Python loops"):
        ckpt.compile(refused_condition, torch.randn(4))


def test_branches_on_numbers_are_refused_with_another_way():
    with pytest.raises(ckpt.UnsupportedStep, match=r"^Python code takes a number out of a tensor \(.*, which is unknown .*: use torch.where"):
        ckpt.compile(refused_branch, torch.randn(4))


def test_comparisons_of_whole_tensors_are_refused_with_another_way():
    with pytest.raises(ckpt.UnsupportedStep, match=r"^Python code takes a number out of a tensor \(.* in place of torch.equal"):
        ckpt.compile(lambda x: torch.equal(x, 2 * x), torch.randn(4))


def test_a_form_that_fails_is_refused_at_the_line(monkeypatch):
    monkeypatch.setitem(decompositions.OWN, torch.ops.aten.floor.default, lambda x: x.reshape(3))
    with pytest.raises(ckpt.UnsupportedStep, match=r"^aten.floor.default \(.*test_torch_kinds.py:\d+\) is not supported with these operands \(RuntimeError: .*\)$"):
        ckpt.compile(lambda x: torch.floor(x), torch.randn(4))


def test_refusals_name_each_operation():
    with pytest.raises(ckpt.UnsupportedStep, match=r"no linalg form:\n  aten.special_bessel_j0.default \(.*\n  aten.mode.default \("):
        ckpt.compile(refused_special, torch.randn(4))
