"""Plans a file under several budgets and strategies, and judges every result.

A budget without a plan has to be an honest error: the report is written all the
same, and the smallest budget that it names is one for which there is a plan.
"""

import planned

PERCENT = (70, 50, 40, 30, 25)


def check_result(original, options, text, figures):
    budget = figures["budget_bytes"]
    program = planned.judge(text, original, budget if budget >= 0 else None)
    recomputations = sum(kernel.recompute for kernel in program.kernels)
    for ours, name in (
        (program.arena_bytes, "peak_bytes"),
        (program.live_peak_bytes, "live_peak_bytes"),
    ):
        if ours != figures[name]:
            raise planned.Failed(f"{options}: {name} is {ours}, but reported {figures[name]}")
    print(
        f"{options}: {len(program.kernels)} kernels, {recomputations} recomputations, "
        f"{program.arena_bytes} bytes"
    )
    return program


def check_infeasible(model, original, options, errors, figures):
    budget, smallest = figures["budget_bytes"], figures["minimum_budget_bytes"]
    if figures["feasible"] or smallest <= budget:
        raise planned.Failed(f"{options}: fails, but reports a plan: {errors.strip()}")
    if figures["minimum_budget_bound_bytes"] > smallest:
        raise planned.Failed(f"{options}: the bound on budgets is above a plan")
    print(f"{options}: infeasible, {smallest} bytes would do")
    options = f"budget={smallest}B"
    text, figures = planned.expect_plan(model, options)
    check_result(original, options, text, figures)


def check_budgets(model):
    original = planned.expect_text("--ckpt-prepare", planned.GENERIC, model)
    for options in ("strategy=as-written", "strategy=none"):
        text, figures = planned.expect_plan(model, options)
        program = check_result(original, options, text, figures)
        if any(kernel.recompute for kernel in program.kernels):
            raise planned.Failed(f"{options}: recomputes")
    for percent in PERCENT:
        options = f"budget={percent}%"
        code, text, errors, figures = planned.plan(model, options)
        if figures["budget_bytes"] != figures["baseline_peak_bytes"] * percent // 100:
            raise planned.Failed(f"{options}: is no such share of the baseline")
        if code:
            check_infeasible(model, original, options, errors, figures)
        else:
            check_result(original, options, text, figures)


planned.main(check_budgets)
