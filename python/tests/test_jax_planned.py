"""Planned functions in the user's own jit: reports, curves, files, checks, shapes and errors are those of their plans."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ckpt
import ckpt.jax
from ckpt.jax.step import TracedStep


@pytest.fixture(scope="module")
def gpt():
    from jax_models import make_step

    return make_step(scanned=False)


@pytest.fixture(scope="module")
def planned(gpt):
    step, arguments = gpt
    return ckpt.jax.plan(step, *arguments, budget="70%", effort=0.2)


def unlimited(planned):
    return planned._latest()[0].problem.solve(None)


def chain(weights, x):
    def loss(weights):
        y = x
        for weight in weights:
            y = jnp.tanh(y @ weight)
        return (y**2).mean()

    return jax.value_and_grad(loss)(weights)


def chain_arguments(rows):
    random = np.random.default_rng(0)
    weights = [random.standard_normal((64, 64)).astype(np.float32) / 8 for _ in range(6)]
    return weights, random.standard_normal((rows, 64)).astype(np.float32)


def test_a_share_refers_to_the_plan_without_a_budget(planned):
    whole = unlimited(planned).arena_bytes
    assert planned.report.figures["budget_bytes"] == int(0.7 * whole)
    assert 0.5 * whole < planned.plan.arena_bytes <= 0.7 * whole


@pytest.mark.parametrize("budget", [None, "70%"])
def test_effort_limits_every_search(budget, monkeypatch):
    """A share of a plan that the clock ended would be another one on each machine."""
    efforts, solve = [], ckpt.Problem.solve

    def recorded(self, *sizes, **options):
        efforts.append(options.get("effort"))
        return solve(self, *sizes, **options)

    monkeypatch.setattr(ckpt.Problem, "solve", recorded)
    ckpt.jax.plan(chain, *chain_arguments(8), budget=budget, effort=0.2)
    assert efforts and set(efforts) == {0.2}


def test_the_report_is_that_of_the_plan(planned):
    figures = planned.report.figures
    assert figures["peak_bytes"] == planned.plan.arena_bytes
    assert figures["extra_flops"] == planned.plan.extra_flops
    assert figures["kernels"] == len(planned.plan.kernels)
    assert figures["title"] == "@step"
    assert json.loads(planned.report.json()) == figures
    assert "jax_models.py:" in planned.report.html


@pytest.mark.parametrize("way", ["jit", "planned"])
def test_the_frontier_falls_to_the_plan_that_recomputes_nothing(way):
    arguments = chain_arguments(512)
    if way == "jit":
        step = ckpt.jax.jit(chain, effort=0.1, time_limit=0.2)
        step.compile(*arguments)
    else:
        step = ckpt.jax.plan(chain, *arguments, effort=0.1, time_limit=0.2)
    plans = step.frontier(6)
    arenas, work = [plan.arena_bytes for plan in plans], [plan.extra_flops for plan in plans]
    assert 2 < len(set(arenas)) <= len(plans) <= 6
    assert arenas == sorted(arenas) and work == sorted(work, reverse=True)
    assert work[-1] == 0 < work[0]


def test_a_decorated_function_is_planned_once_per_shapes():
    calls = []

    @ckpt.jax.planned(budget="80%", effort=0.1)
    def step(weights, x):
        """A step of the user."""
        calls.append(x.shape)
        return chain(weights, x)

    assert step.__name__ == "step" and step.__doc__ == "A step of the user."
    small, large = chain_arguments(256), chain_arguments(512)
    outer = jax.jit(lambda *a: step(*a))
    outer(*small)
    first = step.plan
    outer(*large)
    assert step.plan is not first and step.plan.arena_bytes > 1.5 * first.arena_bytes
    # Another trace of the first shapes searches no more, and is the latest.
    jax.eval_shape(step, *small)
    assert step.plan is first
    assert calls == [(256, 64), (512, 64)]


def test_a_budget_below_every_plan_names_the_smallest_and_the_place():
    with pytest.raises(ckpt.BudgetError) as raised:
        ckpt.jax.plan(chain, *chain_arguments(512), budget="16KiB", effort=0.1)
    assert raised.value.smallest_bytes > raised.value.budget_bytes == 16 << 10
    assert raised.value.smallest.arena_bytes == raised.value.smallest_bytes
    assert "test_jax_planned.py:" in raised.value.report


def test_a_function_that_jax_cannot_trace_is_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="JAX cannot trace the step: Attempted boolean conversion"):
        ckpt.jax.plan(lambda x: x if x.sum() > 0 else -x, np.ones(4, np.float32))


@pytest.mark.parametrize("wrap", [ckpt.jax.jit, ckpt.jax.planned])
def test_a_check_finds_a_wrong_result(wrap, monkeypatch):
    function = TracedStep.function

    def wrong(self, *options, **named):
        right = function(self, *options, **named)
        return lambda *a, **k: jax.tree.map(lambda leaf: leaf * 1.5, right(*a, **k))

    arguments = chain_arguments(256)
    assert wrap(chain, effort=0.1).check(*arguments).largest_difference < 1e-4
    monkeypatch.setattr(TracedStep, "function", wrong)
    assert 0.4 < wrap(chain, effort=0.1).check(*arguments).largest_difference < 0.6


def test_a_check_measures_both_programs(planned, gpt):
    step, arguments = gpt
    found = planned.check(*arguments)
    made = jax.jit(planned, compiler_options=ckpt.jax.compiler_options()).lower(*arguments).compile()
    plain = jax.jit(step).lower(*arguments).compile()
    assert found.plain_temp_bytes == plain.memory_analysis().temp_size_in_bytes
    assert found.temp_bytes == made.memory_analysis().temp_size_in_bytes < 0.7 * found.plain_temp_bytes
    assert found.results == len(jax.tree.leaves(plain(*arguments)))


def test_a_saved_plan_is_that_of_the_latest_shapes(tmp_path):
    step = ckpt.jax.planned(chain, budget="60%", effort=0.1)
    small, large = chain_arguments(256), chain_arguments(512)
    path = str(tmp_path / "step.plan")
    for arguments in (small, large):
        jax.eval_shape(step, *arguments)
    step.save(path)
    replayed = ckpt.jax.load(path, chain).compile(*large)
    assert replayed.plan.text == step.plan.text and replayed.plan.extra_flops > 0
    with pytest.raises(ckpt.PlanMismatch, match="first differ in line"):
        ckpt.jax.load(path, chain).compile(*small)
