"""Planned steps give plain JAX's results, in the bytes that were asked for."""

import json
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ckpt
import ckpt.jax


def plain_temp(step, arguments):
    return jax.jit(step).lower(*arguments).compile().memory_analysis().temp_size_in_bytes


def planned_temp(step, arguments):
    return step.compile(*arguments).executable.memory_analysis().temp_size_in_bytes


def assert_close(actual, expected):
    for a, e in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("share", ["75%", "50%"])
def test_budget_is_a_contract_about_the_bytes_of_xla(gpt, share):
    step, arguments = gpt
    planned = ckpt.jax.jit(step, budget=share, effort=0.2)
    assert_close(planned(*arguments), jax.jit(step)(*arguments))
    want = plain_temp(step, arguments) * int(share[:-1]) / 100
    assert planned_temp(planned, arguments) <= want
    assert planned.report.temp_bytes <= want
    assert planned.report.plain_temp_bytes == plain_temp(step, arguments)


def test_a_scan_over_layers_meets_a_budget_that_its_stacks_exceed(scanned_gpt):
    step, arguments = scanned_gpt
    planned = ckpt.jax.jit(step, budget="50%", effort=0.2)
    assert_close(planned(*arguments), jax.jit(step)(*arguments))
    assert planned_temp(planned, arguments) <= plain_temp(step, arguments) / 2


@pytest.mark.parametrize("time_limit", [8, None])
def test_all_searches_together_take_twice_the_time_limit_and_twice_the_effort(gpt, monkeypatch, time_limit):
    from ckpt.jax import xla
    from ckpt.planner import Problem

    limits, efforts, temp_bytes, solve = [], [], xla.temp_bytes, Problem.solve

    def slow_to_fit(executable):
        return int(temp_bytes(executable) * (1.5 if len(limits) == 1 else 1))

    def recorded(self, budget_bytes=None, *, time_limit, effort, progress=None):
        limits.append(time_limit)
        efforts.append(effort)
        return solve(self, budget_bytes, time_limit=0)

    monkeypatch.setattr(xla, "temp_bytes", slow_to_fit)
    monkeypatch.setattr(Problem, "solve", recorded)
    step, arguments = gpt
    planned = ckpt.jax.jit(step, budget="75%", time_limit=time_limit, effort=2).compile(*arguments)
    assert planned.report.rounds > 1
    first = time_limit or planned.traced.problem.search_seconds
    assert limits == [first / 2**i for i in range(len(limits))]
    assert efforts == [2 / 2**i for i in range(len(limits))]


def test_a_plan_to_which_xla_adds_much_lowers_the_next_budget_by_little(gpt, monkeypatch):
    from ckpt.jax import xla
    from ckpt.planner import Problem

    step, arguments = gpt
    want = int(0.75 * plain_temp(step, arguments))
    asked, excess, temp_bytes, solve = [], (1.05, 1.5, 1.0), xla.temp_bytes, Problem.solve

    def recorded(self, budget_bytes=None, **options):
        asked.append(budget_bytes)
        return solve(self, budget_bytes, time_limit=0)

    monkeypatch.setattr(Problem, "solve", recorded)
    monkeypatch.setattr(
        xla, "temp_bytes", lambda made: int(want * excess[len(asked) - 1]) if asked else temp_bytes(made)
    )
    report = ckpt.jax.jit(step, budget="75%").compile(*arguments).report
    assert report.rounds == len(asked) == 3
    assert asked[2] > asked[1] - 0.2 * want


def test_xla_compiles_the_smallest_plan_of_a_search_that_failed(monkeypatch):
    from ckpt.jax import xla
    from ckpt.planner import Problem

    def step(weights, x):
        return jax.grad(lambda weights: (jnp.tanh(jnp.tanh(x @ weights[0]) @ weights[1]) ** 2).sum())(weights)

    arguments = np.ones((2, 64, 64), np.float32), np.ones((512, 64), np.float32)
    problem = ckpt.jax.jit(step, time_limit=0).compile(*arguments).traced.problem
    solve, temp_bytes, failed = Problem.solve, xla.temp_bytes, []

    def failing(self, budget_bytes=None, **options):
        try:
            return solve(self, 1024, time_limit=0)
        except ckpt.BudgetError as error:
            failed.append(error)
            raise

    with pytest.raises(ckpt.BudgetError) as raised:
        failing(problem)
    budget = raised.value.smallest_bytes * 3 // 4
    failed.clear()
    monkeypatch.setattr(Problem, "solve", failing)
    monkeypatch.setattr(xla, "temp_bytes", lambda made: budget if failed else temp_bytes(made))
    made = ckpt.jax.jit(step, budget=budget).compile(*arguments)
    assert made.report.rounds == len(failed) == 1
    assert made.plan is failed[0].smallest
    assert made.plan.arena_bytes == failed[0].smallest_bytes > made.report.budget_bytes == made.report.temp_bytes


@pytest.fixture
def xla_takes(monkeypatch):
    """Makes XLA seem to take a share of the arena of each plan, by its number; returns the plans."""
    from ckpt.jax import xla
    from ckpt.planner import Problem

    plans, temp_bytes, solve = [], xla.temp_bytes, Problem.solve

    def recorded(self, budget_bytes=None, **options):
        try:
            plans.append(solve(self, budget_bytes, time_limit=0))
        except ckpt.BudgetError as error:
            plans.append(error.smallest)
            raise
        return plans[-1]

    def takes(share):
        monkeypatch.setattr(Problem, "solve", recorded)
        monkeypatch.setattr(
            xla, "temp_bytes", lambda e: int(plans[-1].arena_bytes * share(len(plans))) if plans else temp_bytes(e)
        )
        return plans

    return takes


def test_bytes_that_xla_leaves_become_less_extra_work(gpt, xla_takes):
    step, arguments = gpt
    plans = xla_takes(lambda number: 0.75)
    made = ckpt.jax.jit(step, budget="35%").compile(*arguments)
    assert made.report.temp_bytes <= made.report.budget_bytes < made.plan.arena_bytes
    assert made.plan.extra_flops < plans[0].extra_flops
    assert made.report.rounds == len(plans) > 1


@pytest.mark.parametrize("later", [0.5, 1000.0])
def test_without_a_budget_the_bytes_of_plain_jit_are_one_where_a_plan_meets_them(gpt, xla_takes, later):
    step, arguments = gpt
    plans = xla_takes(lambda number: 3.0 if number == 1 else later)
    made = ckpt.jax.jit(step, budget=None).compile(*arguments)
    assert made.plan is (plans[1] if later < 1 else None)
    assert "no plan takes less: the step runs as it is" in str(made.report) or made.plan
    assert len(plans) > 1


def test_without_a_budget_exact_bits_hold_where_no_plan_meets_the_bytes_of_plain_jit(gpt, xla_takes):
    step, arguments = gpt
    plans = xla_takes(lambda number: 1000.0)
    assert ckpt.jax.jit(step, budget=None, exact=True).compile(*arguments).plan is plans[0]


def test_a_larger_plan_that_exceeds_the_budget_leaves_the_smaller_one(gpt, xla_takes):
    step, arguments = gpt
    plans = xla_takes(lambda number: 0.75 if number == 1 else 1.25)
    made = ckpt.jax.jit(step, budget="35%").compile(*arguments)
    assert made.plan is plans[0]
    assert made.report.rounds == len(plans) == 2


def test_a_budget_below_the_smallest_arena_is_met_by_a_plan_of_which_xla_lays_more_elsewhere(gpt, xla_takes):
    step, arguments = gpt
    plans = xla_takes(lambda number: 1.0 if number == 1 else 0.1)
    made = ckpt.jax.jit(step, budget="10%").compile(*arguments)
    assert plans[0].arena_bytes > made.report.budget_bytes
    assert made.plan is plans[1]
    assert made.plan.extra_flops == 0


def test_an_error_after_all_rounds_has_the_proof_of_the_planner(gpt, xla_takes):
    step, arguments = gpt
    plans = xla_takes(lambda number: 1.0)
    with pytest.raises(ckpt.BudgetError, match="no arena does with less than") as raised:
        ckpt.jax.jit(step, budget="10%").compile(*arguments)
    assert raised.value.smallest_bytes == plans[0].arena_bytes >= raised.value.bound_bytes > 0
    assert "jax_models.py:" in raised.value.report


def grouped_queries():
    """Attention whose four heads share one head of keys and values, with rotated halves."""
    width, heads, length = 64, 4, 64
    random = np.random.default_rng(0)
    shapes = {"q": (width, width), "kv": (width, 2 * width // heads), "out": (width, width), "up": (width, 256)}
    weights = {name: random.standard_normal(shape).astype(np.float32) / 8 for name, shape in shapes.items()}
    angles = np.outer(np.arange(length), 0.1 ** np.arange(width // heads // 2)).astype(np.float32)[:, None]

    def rotated(x):
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)

    def loss(weights, x):
        q = rotated((x @ weights["q"]).reshape(2, length, heads, -1))
        k, v = (part[:, :, None] for part in jnp.split(x @ weights["kv"], 2, -1))
        x = x + jax.nn.dot_product_attention(q, rotated(k), v, is_causal=True).reshape(x.shape) @ weights["out"]
        return (jax.nn.silu(x @ weights["up"]) ** 2).mean()

    return jax.value_and_grad(loss), (weights, random.standard_normal((2, length, width)).astype(np.float32))


def messages():
    """A network on the edges of a graph: gathers, and sums by segments."""
    nodes, edges, width = 64, 512, 16
    random = np.random.default_rng(0)
    ends = random.integers(0, nodes, (2, edges))

    def loss(weights, x):
        for edge, node in weights:
            sent = jax.nn.silu(jnp.concatenate([x[ends[0]], x[ends[1]]], -1) @ edge)
            x = x + jnp.tanh(jnp.concatenate([x, jax.ops.segment_sum(sent, ends[1], nodes)], -1) @ node)
        return (x**2).mean()

    weights = [[random.standard_normal((2 * width, width)).astype(np.float32) / 8] * 2 for _ in range(2)]
    return jax.value_and_grad(loss), (weights, random.standard_normal((nodes, width)).astype(np.float32))


def momentum():
    return momentum_step(unrolled=False)


@pytest.mark.parametrize("made", [grouped_queries, messages, momentum])
@pytest.mark.parametrize("budget", ["1%", "20%"])
def test_the_bytes_that_an_error_names_are_a_budget_that_succeeds(made, budget):
    step, arguments = made()
    with pytest.raises(ckpt.BudgetError) as raised:
        ckpt.jax.jit(step, budget=budget, effort=0.2).compile(*arguments)
    named = raised.value.smallest_bytes
    assert raised.value.budget_bytes < named <= plain_temp(step, arguments)
    for more in (named, named * 21 // 20):
        report = ckpt.jax.jit(step, budget=more, effort=0.2).compile(*arguments).report
        assert report.temp_bytes <= more


def test_an_impossible_budget_says_what_is_possible_whatever_the_budget_and_the_clock(gpt):
    step, arguments = gpt
    named = set()
    for budget, limit in (("1%", {"time_limit": 0.2}), ("12%", {"effort": 0.2}), ("4KiB", {"effort": 0.2})):
        with pytest.raises(ckpt.BudgetError) as raised:
            ckpt.jax.jit(step, budget=budget, **limit)(*arguments)
        assert raised.value.smallest_bytes > raised.value.budget_bytes
        assert "jax_models.py:" in raised.value.report
        named.add(raised.value.smallest_bytes)
    assert raised.value.budget_bytes == 4096
    assert len(named) == 1


def test_what_only_bytes_are_asked_of_is_not_optimized(gpt, monkeypatch):
    from ckpt.jax import xla

    step, arguments = gpt
    compiled, levels = xla.compiled, []

    def recorded(function, args, kwargs, **jit):
        levels.append(jit["compiler_options"].get("xla_backend_optimization_level"))
        return compiled(function, args, kwargs, **jit)

    monkeypatch.setattr(xla, "compiled", recorded)
    with pytest.raises(ckpt.BudgetError) as raised:
        ckpt.jax.jit(step, budget="1%", effort=0.2)(*arguments)
    # The smallest plan that a search of the budget finds, and the smallest one of any budget.
    assert levels == [0] * len(levels) and len(levels) <= 2
    levels.clear()
    made = ckpt.jax.jit(step, budget=raised.value.smallest_bytes, effort=0.2).compile(*arguments)
    assert levels[-1] is None and made.report.temp_bytes == raised.value.smallest_bytes


def test_donated_arguments_keep_the_budget(gpt):
    step, arguments = gpt

    def updated(parameters, tokens):
        loss, parameters = step(parameters, tokens)
        return parameters, loss

    expected = jax.jit(updated)(*arguments)
    planned = ckpt.jax.jit(updated, budget="60%", donate_argnums=0, effort=0.2)
    donated = jax.device_put(arguments[0])
    assert_close(planned(donated, arguments[1]), expected)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(donated))


def momentum_step(unrolled):
    def loss(weights, x):
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return (x**2).mean()

    def update(state, x):
        weights, moments = state
        value, gradients = jax.value_and_grad(loss)(weights, x)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradients)
        return (jax.tree.map(lambda w, m: w - 0.1 * m, weights, moments), moments), value

    random = np.random.default_rng(0)
    weights = [random.standard_normal((64, 64)).astype(np.float32) / 8 for _ in range(4)]
    x = random.standard_normal((4, 512, 64)).astype(np.float32)
    arguments = (weights, jax.tree.map(np.zeros_like, weights)), x if unrolled else x[0]
    return (lambda state, x: jax.lax.scan(update, state, x)) if unrolled else update, arguments


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("donates", [{"donate_argnums": 0}, {"donate_argnames": "state"}])
def test_results_are_written_behind_the_readers_of_their_donated_arguments(unrolled, donates):
    step, arguments = momentum_step(unrolled)
    if "donate_argnames" in donates and unrolled:

        def step(state, x, scanned=step):
            return scanned(state, x)

    made = ckpt.jax.jit(step, effort=0.2, **donates).compile(*arguments)
    assert made.executable.memory_analysis().alias_size_in_bytes == 8 * 64 * 64 * 4
    assert " copy(" not in made.executable.as_text()
    assert made.report.temp_bytes <= 1.03 * made.report.planned_bytes


def test_each_shape_is_planned_once(gpt):
    step, (parameters, tokens) = gpt
    planned = ckpt.jax.jit(step, budget="60%", time_limit=0)
    first = planned.compile(parameters, tokens)
    assert planned.compile(parameters, tokens) is first
    assert planned.compile(parameters, tokens[:1].repeat(2, 0)) is first


def test_a_budget_that_plain_jit_meets_leaves_the_step_alone(gpt):
    step, arguments = gpt
    planned = ckpt.jax.jit(step, budget="1GiB")
    assert_close(planned(*arguments), jax.jit(step)(*arguments))
    assert not planned.report.planned


def test_a_step_without_temporary_memory_meets_every_share():
    planned = ckpt.jax.jit(lambda x: x * 2, budget="50%")
    assert_close(planned(np.ones(4, np.float32)), 2 * np.ones(4))
    assert not planned.report.planned


@pytest.mark.parametrize(
    "options, call",
    [
        ({"static_argnums": 2}, lambda step, mode, *a: step(*a, mode)),
        ({"static_argnums": -1}, lambda step, mode, *a: step(*a, mode)),
        ({"static_argnames": "mode"}, lambda step, mode, *a: step(*a, mode=mode)),
        ({"static_argnames": ("mode",)}, lambda step, mode, *a: step(*a, mode)),
        ({"static_argnums": (2,), "donate_argnums": (0,)}, lambda step, mode, *a: step(*a, mode=mode)),
    ],
)
def test_static_arguments_are_part_of_the_program(options, call):
    def step(weight, x, mode="tanh"):
        function = {"tanh": jnp.tanh, "sine": jnp.sin}[mode]
        value, gradient = jax.value_and_grad(lambda w: (function(function(x @ w) @ w) ** 2).mean())(weight)
        return weight - gradient, value

    random = np.random.default_rng(0)
    arguments = random.standard_normal((64, 64)).astype(np.float32) / 8, random.standard_normal((512, 64))
    planned = ckpt.jax.jit(step, effort=0.1, **options)
    for mode in ("sine", "tanh"):
        assert_close(call(planned, mode, *arguments), step(*arguments, mode))
        assert call(planned.compile, mode, *arguments) is call(planned.compile, mode, *arguments)
    assert call(planned.check, "sine", *arguments).largest_difference < 1e-4


def test_static_arguments_that_cannot_be_hashed_are_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="static arguments that can be hashed"):
        ckpt.jax.jit(lambda x, sizes: x, static_argnums=1)(np.ones(4, np.float32), [1])


def test_compile_options_of_the_user_stand_beside_those_that_keep_the_plan(gpt):
    step, arguments = gpt
    options = {"xla_llvm_disable_expensive_passes": True}
    made = ckpt.jax.jit(step, effort=0.1, compiler_options=options).compile(*arguments)
    assert "opt-barrier" in made.executable.as_text()
    with pytest.raises(Exception, match="xla_of_no_version"):
        ckpt.jax.jit(step, effort=0.1, compiler_options={"xla_of_no_version": True}).compile(*arguments)


def test_a_step_that_jax_cannot_trace_is_refused():
    def step(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(ckpt.UnsupportedStep, match="JAX cannot trace the step: Attempted boolean conversion"):
        ckpt.jax.jit(step, budget="50%")(np.ones(4, np.float32))


@pytest.mark.skipif(not hasattr(jax, "new_ref"), reason="an older JAX")
def test_references_are_refused_by_their_line():
    def swapped(x):
        reference = jax.new_ref(x)
        reference[0] = x[1]
        return reference[...]

    with pytest.raises(ckpt.UnsupportedStep, match=r"new_ref \(test_jax.py:\d+\): a plan cannot order"):
        ckpt.jax.jit(swapped)(np.arange(3.0))


@pytest.mark.parametrize("planned", [ckpt.jax.jit, ckpt.jax.planned])
def test_settings_of_jax_make_another_step(planned):
    def step(x):
        return x.sum(), x @ x, x * 2.5, jax.random.bits(jax.random.PRNGKey(x[0, 0]), (4,))

    ours, numbers = planned(step, effort=0.1), jnp.ones((4, 4), jnp.int32)
    try:
        for enabled in (False, True, False):
            jax.config.update("jax_enable_x64", enabled)
            types = lambda results: [result.dtype for result in results]
            assert types(ours(numbers)) == types(jax.jit(step)(numbers))
    finally:
        jax.config.update("jax_enable_x64", False)
    with jax.threefry_partitionable(not jax.config.jax_threefry_partitionable):
        np.testing.assert_array_equal(ours(numbers)[3], jax.jit(step)(numbers)[3])
    with jax.numpy_dtype_promotion("strict"), pytest.raises(ckpt.UnsupportedStep, match="promotion"):
        planned(lambda x: x + jnp.float32(1))(numbers)


@pytest.mark.parametrize("setting", ["jax_debug_nans", "jax_debug_infs"])
def test_numbers_that_are_not_finite_raise_the_error_of_plain_jit(setting):
    def step(w, x):
        return w - x, jnp.log(w * 0) * (0 if setting == "jax_debug_nans" else 1)

    # JAX donates nothing where it looks for NaNs, and loses a donated argument where it looks for infinities.
    donated = {"donate_argnums": 0} if setting == "jax_debug_nans" else {}
    made, w, x = ckpt.jax.jit(step, time_limit=0, **donated), jnp.ones((4, 4)), jnp.ones((4, 4))
    made(w + 0, x)
    jax.config.update(setting, True)
    try:
        for function in (jax.jit(step), made):
            with pytest.raises(FloatingPointError):
                function(w, x)
    finally:
        jax.config.update(setting, False)


@pytest.mark.parametrize("budget", ["0%", "-1", "lots", "12 parsecs", 0, True])
def test_budgets_that_mean_nothing_are_refused_at_once(budget):
    with pytest.raises(ckpt.CkptError, match="expected a budget"):
        ckpt.jax.jit(lambda x: x, budget=budget)


@pytest.mark.usefixtures("optimized")
def test_exact_plans_give_the_same_bits_at_every_budget(gpt):
    step, arguments = gpt
    results = []
    for budget in (None, "75%", "60%", "50%"):
        planned = ckpt.jax.jit(step, budget=budget, exact=True, time_limit=0)
        results.append([np.asarray(leaf) for leaf in jax.tree.leaves(planned(*arguments))])
        assert budget is None or planned.report.planned
    for other in results[1:]:
        for a, e in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(a, e)


def test_a_check_says_what_the_plan_does(gpt):
    step, arguments = gpt
    arguments = jax.device_put(arguments)
    planned = ckpt.jax.jit(step, budget="60%", donate_argnums=0, time_limit=0)
    found = planned.check(*arguments)
    assert found.plain_temp_bytes == planned.report.plain_temp_bytes
    assert found.temp_bytes <= 0.6 * found.plain_temp_bytes
    assert found.results == len(jax.tree.leaves(jax.eval_shape(step, *arguments)))
    assert found.largest_difference < 1e-4
    assert f"of {found.results} results have the same bits" in str(found)
    assert not any(leaf.is_deleted() for leaf in jax.tree.leaves(arguments))


@pytest.mark.parametrize(
    "actual, expected, difference",
    [
        ([np.nan, 2.0], [np.nan, 1.0], 1.0),
        ([np.nan, 1.0], [1.0, 1.0], np.inf),
        ([np.inf, 4.5], [np.inf, 4.0], 0.125),
        ([np.inf], [-np.inf], np.inf),
        ([0.0], [-0.0], 0.0),
    ],
)
def test_a_check_sees_numbers_that_are_none(actual, expected, difference):
    from ckpt.jax.check import compare

    equal = np.ones(2, np.float32)
    found = compare(0, 0, [equal, np.float32(actual)], [equal, np.float32(expected)])
    assert found.largest_difference == difference


def test_the_report_is_figures_and_a_page_of_the_plan(gpt, tmp_path):
    step, arguments = gpt
    planned = ckpt.jax.jit(step, budget="60%", time_limit=0)
    report = planned.compile(*arguments).report
    assert json.loads(report.json())["temp_bytes"] == report.temp_bytes
    assert report.schedule.figures["peak_bytes"] == report.planned_bytes
    assert report.schedule.figures["budget_bytes"] == report.budget_bytes
    report.save(str(tmp_path / "plan.html"))
    page = (tmp_path / "plan.html").read_text()
    assert page == report.html and "@step" in page and "jax_models.py:" in page
    report.save(str(tmp_path / "plan.svg"))
    assert (tmp_path / "plan.svg").read_text().startswith("<svg")


def test_a_bound_is_proven_once_and_only_for_who_asks(gpt, monkeypatch):
    step, arguments = gpt
    proofs = []
    proven = ckpt.Problem.extra_flops_bound_share
    monkeypatch.setattr(ckpt.Problem, "extra_flops_bound_share", lambda *of: proofs.append(of) or proven(*of))
    report = ckpt.jax.jit(step, budget="40%", effort=0.5).compile(*arguments).report
    assert report.extra_flops_share > 0 and not proofs
    share = json.loads(report.json())["extra_flops_bound_share"]
    assert 0 < share <= report.extra_flops_share and f"{100 * share:.2f} %" in str(report)
    assert len(proofs) == 1


def test_shortages_of_one_problem_share_their_proof(gpt, monkeypatch):
    from ckpt import _planner
    from ckpt.jax.step import PlanOptions, TracedStep

    step, arguments = gpt
    problem = TracedStep(step, arguments, {}, PlanOptions()).problem
    proofs = []
    proven = _planner.PlanningProblem.minimum_bytes_bound
    monkeypatch.setattr(_planner.PlanningProblem, "minimum_bytes_bound", lambda of: proofs.append(proven(of)) or proofs[-1])
    for budget in (1, 2):
        with pytest.raises(ckpt.BudgetError) as raised:
            problem.solve(budget, time_limit=0)
        assert raised.value.bound_bytes == proofs[0] > 0
    assert len(proofs) == 1


@pytest.mark.parametrize("options", [{"time_limit": "5"}, {"time_limit": -3}, {"time_limit": np.inf}, {"effort": 0}, {"effort": "5"}])
def test_limits_that_are_no_seconds_are_refused_at_once(options):
    with pytest.raises(ckpt.CkptError, match="expected a(n effort| time limit) .* seconds, but got"):
        ckpt.jax.jit(lambda x: x, budget="50%", **options)


def test_what_is_no_function_is_refused_at_once():
    for make in (ckpt.jax.jit, ckpt.jax.planned):
        with pytest.raises(ckpt.UnsupportedStep, match="expected a function of arrays, but got 5"):
            make(5)
    with pytest.raises(ckpt.UnsupportedStep, match="expected a lowered step"):
        ckpt.jax.hlo(lambda x: x)


def test_bytes_of_numpy_are_a_budget():
    x = np.ones(4, np.float32)
    assert ckpt.jax.jit(lambda x: x + 1, budget=np.int64(1 << 20)).compile(x).report.budget_bytes == 1 << 20


def test_a_donated_argument_that_comes_again_is_named(gpt):
    step, (parameters, *rest) = gpt
    planned = ckpt.jax.jit(step, budget="60%", time_limit=0, donate_argnums=0)
    parameters = jax.device_put(parameters)
    planned(parameters, *rest)
    with pytest.raises(ckpt.ArrayError, match=r"float32\[.*\], was donated to an earlier call"):
        planned(parameters, *rest)


def test_a_path_that_cannot_be_written_is_named(gpt, tmp_path):
    step, arguments = gpt
    planned = ckpt.jax.jit(step, budget="60%", time_limit=0)
    planned.compile(*arguments)
    with pytest.raises(ckpt.CkptError, match="no/plan' cannot be written: No such file"):
        planned.save(str(tmp_path / "no" / "plan"))


def test_an_unplanned_step_has_figures_and_no_page(gpt):
    step, arguments = gpt
    report = ckpt.jax.jit(step, budget="1GiB").compile(*arguments).report
    assert not json.loads(report.json())["planned"]
    with pytest.raises(ckpt.CkptError, match="no plan to draw"):
        report.html  # noqa: B018


def test_the_planner_stays_small():
    with open(ckpt.planner._planner.__file__, "rb") as file:
        assert len(zlib.compress(file.read())) < 2_000_000


def test_effects_keep_their_order():
    from jax.experimental import io_callback

    seen = []

    def step(x):
        y = jnp.sin(x) @ x
        io_callback(lambda v: seen.append(("first", float(v))), None, y.sum(), ordered=True)
        z = jnp.cos(x) @ y
        io_callback(lambda v: seen.append(("second", float(v))), None, z.sum(), ordered=True)
        io_callback(lambda v: seen.append(("third", float(v))), None, x.sum(), ordered=True)
        return z

    x = np.ones((8, 8), np.float32)
    jax.block_until_ready(jax.jit(step)(x))
    expected = seen.copy()
    seen.clear()
    jax.block_until_ready(ckpt.jax.jit(step, time_limit=0)(x))
    jax.effects_barrier()
    assert [name for name, _ in seen] == ["first", "second", "third"]
    np.testing.assert_allclose([v for _, v in seen], [v for _, v in expected], rtol=1e-5)


def test_a_saved_plan_is_replayed_without_a_search(gpt, tmp_path):
    step, arguments = gpt
    planned = ckpt.jax.jit(step, budget="50%", effort=0.2)
    planned(*arguments)
    path = str(tmp_path / "step.plan")
    planned.save(path)
    replayed = ckpt.jax.load(path, step)
    assert_close(replayed(*arguments), planned(*arguments))
    assert replayed.report.planned_bytes == planned.report.planned_bytes


def test_a_plan_of_another_step_names_the_first_difference(gpt, scanned_gpt, tmp_path):
    step, arguments = gpt
    planned = ckpt.jax.jit(step, time_limit=0)
    planned(*arguments)
    path = str(tmp_path / "step.plan")
    planned.save(path)
    other, other_arguments = scanned_gpt
    with pytest.raises(ckpt.PlanMismatch, match="first differ in line"):
        ckpt.jax.load(path, other)(*other_arguments)


def test_a_planned_function_runs_inside_the_users_jit(gpt):
    step, arguments = gpt
    inner = ckpt.jax.planned(step, budget="50%", effort=0.2)
    outer = jax.jit(lambda *a: inner(*a), compiler_options=ckpt.jax.compiler_options())
    assert_close(outer(*arguments), jax.jit(step)(*arguments))
    taken = outer.lower(*arguments).compile().memory_analysis().temp_size_in_bytes
    assert taken <= inner.plan.arena_bytes * 1.05


def test_transformations_that_undo_a_plan_are_refused():
    inner = ckpt.jax.planned(lambda x: (jnp.sin(x) * 2).sum())
    with pytest.raises(ckpt.UnsupportedStep, match="vmap"):
        jax.vmap(inner)(np.ones((3, 4), np.float32))
    with pytest.raises(ckpt.UnsupportedStep, match="plan the gradient"):
        jax.grad(inner)(np.ones(4, np.float32))
    with pytest.raises(ckpt.UnsupportedStep, match="plan the gradient"):
        jax.jvp(inner, (np.ones(4, np.float32),), (np.ones(4, np.float32),))


def test_a_planned_function_reports_checks_and_keeps_its_plan(gpt, tmp_path):
    step, arguments = gpt
    with pytest.raises(ckpt.CkptError, match="not traced yet"):
        ckpt.jax.planned(step).report  # noqa: B018
    planned = ckpt.jax.plan(step, *arguments, budget="70%", effort=0.2)
    figures = planned.report.figures
    assert figures["peak_bytes"] == planned.plan.arena_bytes <= figures["budget_bytes"]
    assert planned.report.html.startswith("<")
    found = planned.check(*arguments)
    assert found.plain_temp_bytes == plain_temp(step, arguments)
    assert found.temp_bytes <= 1.05 * planned.plan.arena_bytes
    assert found.largest_difference < 1e-4
    path = str(tmp_path / "step.plan")
    planned.save(path)
    replayed = ckpt.jax.load(path, step)
    assert_close(replayed(*arguments), jax.jit(step)(*arguments))
    assert replayed.report.planned_bytes == planned.plan.arena_bytes


def test_an_argument_that_is_no_array_names_the_way_out():
    def step(x, mode):
        return x * 2 if mode == "double" else x

    for planned in (ckpt.jax.jit(step), ckpt.jax.planned(step)):
        with pytest.raises(ckpt.UnsupportedStep, match="'double': bind it with functools.partial, or split"):
            planned(np.ones(3, np.float32), "double")


def test_pins_are_obeyed_and_unknown_layers_named(gpt):
    step, arguments = gpt
    with pytest.raises(ckpt.CkptError, match="h_0/attn"):
        ckpt.jax.jit(step, pins={"nowhere": "save"})(*arguments)
    pinned = ckpt.jax.jit(step, pins={"h_*/mlp": "recompute"}, time_limit=0)
    assert_close(pinned(*arguments), jax.jit(step)(*arguments))
    assert pinned.report.extra_flops_share > 0


def temp_in_arena(step, arguments, budget):
    """XLA's bytes for a planned step, by the arena of its plan."""
    inner = ckpt.jax.plan(step, *arguments, budget=budget, time_limit=0)
    outer = jax.jit(lambda *a: inner(*a), compiler_options=ckpt.jax.compiler_options())
    compiled = outer.lower(*arguments).compile()
    assert_close(compiled(*arguments), jax.jit(step)(*arguments))
    return compiled.memory_analysis().temp_size_in_bytes / inner.plan.arena_bytes


def test_copies_that_convolutions_make_are_planned():
    def loss(weights, x):
        for weight in weights:
            dims = ("NHWC", "HWIO", "NHWC")
            x = x + jnp.tanh(jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=dims))
        return (x**2).mean()

    random = np.random.default_rng(0)
    weights = [random.standard_normal((3, 3, 16, 16)).astype(np.float32) / 12 for _ in range(3)]
    x = random.standard_normal((8, 32, 32, 16)).astype(np.float32)
    assert temp_in_arena(jax.value_and_grad(loss), (weights, x), "100%") <= 1.03


def test_reductions_do_not_ask_for_their_operands_in_memory():
    def grouped(x):
        parts = x.reshape(*x.shape[:3], 8, -1)
        centred = parts - parts.mean((1, 2, 4), keepdims=True)
        return (centred * jax.lax.rsqrt((centred**2).mean((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape)

    def loss(weights, x):
        for weight in weights:
            x = x + jax.nn.silu(grouped(x)) @ weight
        return (x**2).mean()

    random = np.random.default_rng(0)
    weights = [random.standard_normal((32, 32)).astype(np.float32) / 8 for _ in range(4)]
    x = random.standard_normal((4, 32, 32, 32)).astype(np.float32)
    assert temp_in_arena(jax.value_and_grad(loss), (weights, x), "60%") <= 1.3


def test_dropout_draws_the_same_mask_when_it_is_recomputed():
    width = 256

    def loss(weights, key, x):
        for i, weight in enumerate(weights):
            mask = jax.random.bernoulli(jax.random.fold_in(key, i), 0.5, x.shape)
            x = jnp.where(mask, jnp.tanh(x @ weight), 0)
        return (x**2).sum()

    def step(weights, key, x):
        return jax.value_and_grad(loss)(weights, key, x)

    random = np.random.default_rng(0)
    weights = [random.standard_normal((width, width)).astype(np.float32) / 16 for _ in range(4)]
    arguments = weights, jax.random.key(3), random.standard_normal((512, width)).astype(np.float32)
    planned = ckpt.jax.jit(step, budget="60%", effort=0.2)
    assert_close(planned(*arguments), jax.jit(step)(*arguments))


def test_ordinary_control_flow_and_opaque_primitives_are_planned():
    def step(x):
        order = jnp.argsort(x.sum(-1))
        y = jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x[order])
        y = jax.lax.fori_loop(0, 3, lambda i, y: y * 0.5 + i, y)
        y = jax.lax.while_loop(lambda y: y.sum() > 10, lambda y: y / 2, y)
        return jnp.fft.fft(y).real, jnp.cumsum(y), jnp.linalg.cholesky(y @ y.T + 10 * jnp.eye(8))

    x = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    assert_close(ckpt.jax.jit(step)(x), jax.jit(step)(x))


def test_a_step_inside_another_transformation_names_the_way_out(gpt):
    step, arguments = gpt
    with pytest.raises(ckpt.UnsupportedStep, match="ckpt.jax.planned"):
        jax.jit(ckpt.jax.jit(step))(*arguments)
