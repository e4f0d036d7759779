"""Runs steps through IREE, each in a process of its own, since IREE counts the peak of a device.

usage: run_iree.py INPUTS EXPECTED STEP...

Prints the device's peak in bytes for each step. Fails where results are not those expected to rounding,
or where a step takes no fewer bytes than the step before it.
"""

import multiprocessing
import sys

import iree.compiler
import iree.runtime
import numpy as np


def arrays(path):
    with np.load(path) as file:
        return [file[name] for name in sorted(file.files)]


def run(step, inputs):
    """The results of `step`, and the peak of the device in bytes."""
    with open(step, encoding="utf-8") as file:
        text = file.read()
    code = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])
    # Another device starts all allocations at once.
    config = iree.runtime.Config("local-sync")
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, code))
    given = [iree.runtime.asdevicearray(config.device, array) for array in inputs]
    (module,) = (module for name, module in context.modules.items() if name != "hal")
    results = [result.to_host() for result in module["main"](*given)]
    return results, config.device.allocator.statistics["device_bytes_peak"]


def main():
    inputs, expected, *steps = sys.argv[1:]
    before = None
    for step in steps:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            results, peak = process.apply(run, (step, arrays(inputs)))
        for result, wanted in zip(results, arrays(expected), strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
        print(step, peak, flush=True)
        if before is not None and peak >= before:
            sys.exit(f"error: expected {step} to take less than the step before, {before} bytes")
        before = peak


if __name__ == "__main__":
    main()
