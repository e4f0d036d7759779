"""Writes a step whose results 0 and 1, 2 and 3, ... are the same: each function of a
constant, and of an argument that holds the same number.

usage: constants.py FOLDER
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
import npz

COUNT, NUMBER = 20, 0.37
FUNCTIONS = ["acos", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1",
             "log", "log10", "log1p", "log2", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "atan2", "powf"]
KINDS = ["f64", "f32", "bf16", "f16"]

lines, results = [], []
for kind in KINDS:
    type = f"tensor<{COUNT}x{kind}>"
    lines.append(f"%e_{kind} = tensor.empty() : {type}")
    lines.append(f"%c_{kind} = arith.constant {NUMBER} : {kind}")
    lines.append(f"%f_{kind} = linalg.fill ins(%c_{kind} : {kind}) outs(%e_{kind} : {type}) -> {type}")
    # Wide numbers are arguments; narrow ones are rounded as the constant is.
    source = f"%x_{'f64' if kind == 'f64' else 'f32'}"
    if kind in ("bf16", "f16"):
        lines.append(f"%x_{kind} = arith.truncf {source} : tensor<{COUNT}xf32> to {type}")
    for name in FUNCTIONS:
        for number, operand in enumerate([f"%f_{kind}", f"%x_{kind}"]):
            operands = ", ".join([operand] * (2 if name in ("atan2", "powf") else 1))
            value = f"%{name}_{kind}_{number}"
            lines.append(f"{value} = math.{name} {operands} : {type}")
            results.append((value, type))
types = ", ".join(type for _, type in results)
folder = sys.argv[1]
with open(os.path.join(folder, "step.mlir"), "w") as file:
    file.write(f"func.func @main(%x_f64: tensor<{COUNT}xf64>, %x_f32: tensor<{COUNT}xf32>) -> ({types}) {{\n  ")
    file.write("\n  ".join(lines))
    file.write(f"\n  return {', '.join(value for value, _ in results)} : {types}\n}}\n")
npz.write(os.path.join(folder, "inputs.npz"), [("f8", [NUMBER] * COUNT), ("f4", [NUMBER] * COUNT)])
