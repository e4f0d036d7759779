"""Prints long elementwise steps, as problems or as MLIR: a chain of sums, a chain
with its gradient, which reads all values from the last to the first, or an
oscillator in unrolled time steps, each of which reads both values twice."""

import argparse


def chain(count):
    """Names of results with what each is made of."""
    ops = [("s0", "tanh", ["x"])]
    for i in range(count):
        ops.append((f"s{i + 1}", "addf", [f"s{i}", "x"]))
    return ops


def gradient(count):
    ops = [("s0", "tanh", ["x"])]
    for i in range(count // 2):
        ops.append((f"s{i + 1}", ("tanh", "exp", "sqrt")[i % 3], [f"s{i}"]))
    ops.append(("g0", "mulf", [ops[-1][0], ops[-1][0]]))
    for i in range(count // 2):
        ops.append((f"g{i + 1}", "mulf", [f"g{i}", f"s{count // 2 - 1 - i}"]))
    return ops


def oscillator(count):
    ops = [("p0", "sin", ["x"]), ("q0", "cos", ["x"])]
    for i in range(count // 4):
        ops += [
            (f"u{i}", "sin", [f"p{i}"]),
            (f"v{i}", "cos", [f"q{i}"]),
            (f"p{i + 1}", "addf", [f"p{i}", f"v{i}"]),
            (f"q{i + 1}", "subf", [f"q{i}", f"u{i}"]),
        ]
    return ops


def print_problem(ops, elements):
    numbers = {"x": 0}
    bytes_ = 4 * elements
    fields = f"bytes={bytes_} elements={elements} shape=0"
    print(f'value 0 {fields} home=argument name="x"')
    for name, _, _ in ops:
        numbers[name] = len(numbers)
        home = " home=result" if name == ops[-1][0] else ""
        print(f'value {numbers[name]} {fields}{home} name="{name}"')
    for i, (name, op, operands) in enumerate(ops):
        reads = ",".join(f"{numbers[o]}:pointwise" for o in operands)
        print(
            f"op {i} fusible reads={reads} results={numbers[name]} "
            f'flops={elements} compute={100 * elements} name="{op}"'
        )


def print_mlir(ops, elements):
    type_ = f"tensor<{elements}xf32>"
    print(f"func.func @main(%x: {type_}) -> {type_} {{")
    for name, op, operands in ops:
        dialect = "arith" if op in ("addf", "subf", "mulf") else "math"
        text = ", ".join(f"%{o}" for o in operands)
        print(f"  %{name} = {dialect}.{op} {text} : {type_}")
    print(f"  return %{ops[-1][0]} : {type_}\n}}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["chain", "gradient", "oscillator"])
    parser.add_argument("count", type=int)
    parser.add_argument("--elements", type=int, default=8)
    parser.add_argument("--mlir", action="store_true")
    arguments = parser.parse_args()
    made = {"chain": chain, "gradient": gradient, "oscillator": oscillator}[arguments.kind](arguments.count)
    (print_mlir if arguments.mlir else print_problem)(made, arguments.elements)
