"""Whole training steps of PyTorch, JAX and their planned forms on one GPU: time and peak memory.

usage: gpu_rows.py MODEL SYSTEM SETTING [--device cpu|cuda]
       gpu_rows.py --all [MODEL ...] [--rows SYSTEM,SYSTEM:SETTING,...] [--deadline SECONDS] [--end SECONDS] --out FILE

The first form runs one row and prints a line of JSON. The second form starts each row as a process, and all compile at
once. When all are ready, or at the deadline, they are timed one after another; nothing else runs meanwhile. A row that
fails becomes a line with its message. FILE receives the lines; FILE.logs receives each process's own words.

    torch eager             scaled_dot_product_attention; SGD by foreach; autocast for bfloat16
    torch-compile SHARE     the module by torch.compile, with SHARE as activation_memory_budget
    ckpt-torch BUDGET       the module by torch.compile with ckpt.torch's partition; a share of its plan without a budget
    jax plain|cudnn         jax.jit; attention by jax.nn, as XLA or cuDNN runs it
    jax-checkpoint plain    each block is a jax.checkpoint
    ckpt-jax BUDGET         ckpt.jax.jit; a share of the temporary memory of plain jax.jit

A step is loss, gradients and gradient descent. Weights and batches are equal in all rows. float32 means float32: TF32 is
off, and JAX's precision of products is "highest". PyTorch tries cuDNN's convolutions, as XLA does. No argument is donated;
PyTorch's optimizer writes into the weights.

    peak_bytes        torch.cuda.max_memory_allocated; JAX's peak_bytes_in_use, after steps that ran alone
    resident_bytes    the same counter before the first of these steps: weights and batch
    temp_bytes        XLA's own count, beside argument_bytes and output_bytes
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fcntl
import functools
import json
import os
import pickle
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpt2_sizes import RATE, SIZES, Size
from resnet_sizes import RESNETS, ResNetSize

Row = tuple[str, str, str]
Line = dict[str, Any]

MODELS: dict[str, Size | ResNetSize] = {
    "gpt2-bf16": dataclasses.replace(SIZES["gpt2"], batch=8, length=1024),
    "gpt2": dataclasses.replace(SIZES["gpt2"], batch=4, length=512),
    "resnet50": RESNETS["resnet50"],
    "gpt2-tiny": SIZES["gpt2-tiny"],
    "gpt2-tiny-bf16": SIZES["gpt2-tiny"],
    "resnet-tiny": RESNETS["resnet-tiny"],
}
BIG = ("gpt2-bf16", "gpt2", "resnet50")
# In the order in which they start.
SETTINGS = {
    "torch": ("eager",),
    "jax": ("plain", "cudnn"),
    "torch-compile": ("1", "0.5", "0.25"),
    "jax-checkpoint": ("plain",),
    "ckpt-torch": ("100%", "80%", "65%"),
    "ckpt-jax": ("70%", "50%", "35%", "25%"),
}
WARM_STEPS, TIMED_STEPS, BATCH_OF_STEPS = 3, 30, 5


def is_narrow(model: str) -> bool:
    return model.endswith("-bf16")


class Turn:
    """Waits until this process may measure: it says that it is ready, waits for the word, and takes the lock."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        if self.options.ready:
            Path(self.options.ready).touch()
        while self.options.go and not os.path.exists(self.options.go):
            time.sleep(0.05)
        if not self.options.lock:
            yield
            return
        with open(self.options.lock, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def with_room(run: Callable[[], Any], is_full: Callable[[Exception], bool], release: Callable[[], None]) -> Any:
    """Calls `run`, and again where the other rows that compile leave too little memory for it."""
    for last in (False,) * 20 + (True,):
        try:
            return run()
        except Exception as error:
            if last or not is_full(error):
                raise
            print(f"no room yet: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
        release()
        time.sleep(3)


def torch_module(model: str) -> tuple[Any, tuple[Any, ...]]:
    if isinstance(MODELS[model], ResNetSize):
        from torch_steps import make_resnet

        return make_resnet(MODELS[model])
    import gpt2_torch

    return gpt2_torch.make(MODELS[model], is_narrow(model))


def torch_row(model: str, system: str, setting: str, device: str, turn: Turn) -> Line:
    import torch
    from torch._functorch import config

    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    module, batch = torch_module(model)
    module, batch = module.to(device).train(), tuple(each.to(device) for each in batch)
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    on_gpu = device == "cuda"
    synchronize = torch.cuda.synchronize if on_gpu else lambda: None
    call, planned = module, None
    if system == "torch-compile":
        config.activation_memory_budget = float(setting)
        call = torch.compile(module, dynamic=False)
    elif system == "ckpt-torch":
        import ckpt.torch

        planned = ckpt.torch.backend(None if setting == "100%" else setting, engine="inductor")
        call = torch.compile(module, backend=planned, dynamic=False)

    def step() -> Any:
        loss = call(*batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def release() -> None:
        optimizer.zero_grad(set_to_none=True)
        if on_gpu:
            torch.cuda.empty_cache()

    line: Line = {"device": torch.cuda.get_device_name() if on_gpu else "cpu", "version": torch.__version__}
    if system != "torch":
        start = time.perf_counter()
        line["loss"] = with_room(step, lambda error: isinstance(error, torch.OutOfMemoryError), release).item()
        line["compile_s"] = time.perf_counter() - start
    if planned is not None:
        line["planned_bytes"] = planned.report.planned_bytes
        line["extra_flops_share"] = planned.report.extra_flops_share
    release()
    with turn.taken():
        line.setdefault("loss", step().item())
        for _ in range(WARM_STEPS):
            step()
        release()
        synchronize()
        if on_gpu:
            line["resident_bytes"] = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        for _ in range(WARM_STEPS):
            step()
            synchronize()
        if on_gpu:
            line["peak_bytes"] = torch.cuda.max_memory_allocated()
            line["reserved_bytes"] = torch.cuda.max_memory_reserved()
        times = []
        if on_gpu:
            events = [torch.cuda.Event(enable_timing=True) for _ in range(TIMED_STEPS + 1)]
            events[0].record()
            for event in events[1:]:
                step()
                event.record()
            synchronize()
            times = [before.elapsed_time(after) for before, after in zip(events, events[1:])]
        else:
            for _ in range(3):
                start = time.perf_counter()
                step()
                times.append(1000 * (time.perf_counter() - start))
    return line | {"step_ms": statistics.median(times), "least_ms": min(times), "most_ms": max(times)}


def jax_step(model: str, system: str, setting: str) -> tuple[Any, Any]:
    import jax.numpy as jnp

    checkpointed = system == "jax-checkpoint"
    if isinstance(MODELS[model], ResNetSize):
        import resnet_jax

        return resnet_jax.make(MODELS[model], checkpointed)
    import gpt2_jax

    attention = "cudnn" if setting == "cudnn" else "xla"
    dtype = jnp.bfloat16 if is_narrow(model) else jnp.float32
    return gpt2_jax.make(MODELS[model], gpt2_jax.Form(dtype, attention, checkpointed))


def jax_compiled(model: str, system: str, setting: str) -> tuple[Line, Any]:
    """The executable of a row, and the fields that are known before it runs."""
    import jax

    step, arguments = jax_step(model, system, setting)
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    line: Line = {"device": jax.devices()[0].device_kind, "version": jax.__version__}
    is_full = lambda error: "RESOURCE_EXHAUSTED" in str(error)
    start = time.perf_counter()
    if system == "ckpt-jax":
        import ckpt.jax

        compiled = lambda: ckpt.jax.jit(step, budget=setting).compile(*shapes)
        made = with_room(compiled, is_full, lambda: None)
        executable, report = made.executable, made.report
        line |= {"budget_bytes": report.budget_bytes, "plain_temp_bytes": report.plain_temp_bytes}
        line |= {"rounds": report.rounds, "extra_flops_share": report.extra_flops_share}
    else:
        executable = with_room(lambda: jax.jit(step).lower(*shapes).compile(), is_full, lambda: None)
    line["compile_s"] = time.perf_counter() - start
    memory = executable.memory_analysis()
    for name in ("argument", "output", "temp"):
        line[f"{name}_bytes"] = getattr(memory, f"{name}_size_in_bytes")
    return line, executable


def jax_row(model: str, system: str, setting: str, device: str, turn: Turn, kept: str | None) -> Line:
    """Compiles, keeps the executable in a file, and starts anew: the memory that compilation takes counts no more."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ["JAX_PLATFORMS"] = "cpu" if device == "cpu" else "cuda"
    import jax
    from jax.experimental import serialize_executable

    if not is_narrow(model):
        jax.config.update("jax_default_matmul_precision", "highest")
    if kept is None:
        line, executable = jax_compiled(model, system, setting)
        try:
            serialized = serialize_executable.serialize(executable)
        except Exception as error:
            line["note"] = f"measured where it was compiled: {type(error).__name__}: {error}"
        else:
            with tempfile.NamedTemporaryFile(delete=False) as file:
                pickle.dump((line, serialized), file)
            sys.stderr.flush()
            os.execv(sys.executable, [sys.executable, *sys.argv, "--kept", file.name])
    else:
        with open(kept, "rb") as file:
            line, serialized = pickle.load(file)
        os.unlink(kept)
        try:
            executable = serialize_executable.deserialize_and_load(*serialized)
        except Exception as error:
            line, executable = jax_compiled(model, system, setting)
            line["note"] = f"measured where it was compiled: {type(error).__name__}: {error}"
    state, *batch = jax_step(model, system, setting)[1]
    counter = lambda name: (jax.devices()[0].memory_stats() or {}).get(name)
    with turn.taken():
        state, batch = jax.device_put((state, batch))
        jax.block_until_ready((state, batch))
        line["resident_bytes"] = counter("bytes_in_use")
        loss, state = executable(state, *batch)
        line["loss"] = float(loss)
        for _ in range(WARM_STEPS):
            loss, state = jax.block_until_ready(executable(state, *batch))
        line["peak_bytes"] = counter("peak_bytes_in_use")
        times = []
        count = BATCH_OF_STEPS if device == "cuda" else 1
        for _ in range(TIMED_STEPS // BATCH_OF_STEPS):
            start = time.perf_counter()
            for _ in range(count):
                loss, state = executable(state, *batch)
            jax.block_until_ready((loss, state))
            times.append(1000 * (time.perf_counter() - start) / count)
    return line | {"step_ms": statistics.median(times), "least_ms": min(times), "most_ms": max(times)}


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")[:300]


def named(row: Row) -> Line:
    return dict(zip(("model", "system", "setting"), row))


def run_row(options: argparse.Namespace, row: Row) -> Line:
    """The line of a row; its message if it fails."""
    line, turn = named(row), Turn(options)
    try:
        if row[1] in ("torch", "torch-compile", "ckpt-torch"):
            return line | torch_row(*row, options.device, turn)
        return line | jax_row(*row, options.device, turn, options.kept)
    except Exception as error:
        traceback.print_exc()
        error = getattr(error, "inner_exception", error)  # Dynamo wraps the errors of its backends.
        return line | {"error": first_line(f"{type(error).__name__}: {error}")}


def rows_of(models: list[str], asked: str | None) -> list[Row]:
    """The rows of models; `asked` names systems, or one setting of a system after a colon."""
    wanted = [each.partition(":")[::2] for each in asked.split(",")] if asked else [(system, "") for system in SETTINGS]
    rows = []
    for system, one in wanted:
        for setting in [one] if one else SETTINGS[system]:
            # cuDNN's attention takes narrow floats alone.
            rows += [(model, system, setting) for model in models if setting != "cudnn" or is_narrow(model)]
    return rows


class Process:
    """One row in a process of its own, with caches of its own."""

    def __init__(self, row: Row, folder: Path, logs: Path, options: argparse.Namespace) -> None:
        self.row, self.name = row, re.sub(r"[^A-Za-z0-9.-]", "", "-".join(row))
        own = folder / self.name
        own.mkdir()
        self.ready, self.log, self.output = own / "ready", logs / f"{self.name}.log", own / "output"
        command = [sys.executable, __file__, *row, "--device", options.device, "--ready", str(self.ready)]
        command += ["--go", str(folder / "go"), "--lock", str(folder / "lock")]
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(own / "inductor"), "TRITON_CACHE_DIR": str(own / "triton")}
        with open(self.output, "w") as output, open(self.log, "w") as log:
            self.process = subprocess.Popen(
                command,
                stdout=output,
                stderr=log,
                env={"TORCHINDUCTOR_COMPILE_THREADS": "2", "TMPDIR": str(own), **os.environ, **caches},
                start_new_session=True,
            )

    def is_settled(self) -> bool:
        return self.ready.exists() or self.process.poll() is not None

    def end(self) -> None:
        """Also the processes that compile for it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def line(self, error: str = "") -> Line:
        lines = [line for line in self.output.read_text().splitlines() if line.startswith("{")]
        if lines and not error:
            return json.loads(lines[-1])
        said = self.log.read_text().strip().splitlines()
        text = error or f"exit code {self.process.returncode}: {said[-1][:300] if said else 'no message'}"
        return named(self.row) | {"error": text}


def run_all(rows: list[Row], options: argparse.Namespace) -> list[Line]:
    out = Path(options.out).resolve()
    logs = out.with_name(out.name + ".logs")
    logs.mkdir(parents=True, exist_ok=True)
    start, lines = time.monotonic(), []

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:6.1f} s  {text}", file=sys.stderr, flush=True)

    def keep(line: Line) -> None:
        lines.append(line)
        with open(out, "a") as file:
            file.write(json.dumps(line) + "\n")
        name = f"{line['model']} {line['system']} {line['setting']}"
        say(f"{name}: {line.get('error') or format(line['step_ms'], '.2f') + ' ms'}")

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder, waiting = Path(name), list(rows)
        processes: list[Process] = []
        try:
            while time.monotonic() - start < options.deadline:
                busy = sum(not each.is_settled() for each in processes)
                if not waiting and not busy:
                    break
                if waiting and busy < options.slots:
                    processes.append(Process(waiting.pop(0), folder, logs, options))
                else:
                    time.sleep(0.05)
            stragglers = [each for each in processes if not each.is_settled()]
            for each in stragglers:
                each.end()
                keep(each.line("not ready by the deadline"))
            for row in waiting:
                keep(named(row) | {"error": "not started by the deadline"})
            left = [each for each in processes if each not in stragglers]
            say(f"{len(left)} of {len(rows)} rows are ready or over")
            (folder / "go").touch()
            while left and time.monotonic() - start < options.end:
                for each in [each for each in left if each.process.poll() is not None]:
                    left.remove(each)
                    keep(each.line())
                time.sleep(0.02)
            for each in left:
                each.end()
                keep(each.line("not measured by the end"))
        finally:
            for each in processes:
                each.end()
    return lines


def table(lines: list[Line]) -> str:
    """A table of all rows, by model."""
    text = [
        "| model | system | setting | step, ms | peak, MiB | resident, MiB | XLA's temporaries, MiB | compile, s | loss |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    order = [(system, setting) for system, settings in SETTINGS.items() for setting in settings]

    def place(line: Line) -> tuple[int, int]:
        row = line["system"], line["setting"]
        return list(MODELS).index(line["model"]), order.index(row) if row in order else len(order)

    mib = lambda value: "" if value is None else f"{value / 2**20:,.1f}"
    for line in sorted(lines, key=place):
        cells = [line["model"], line["system"], line["setting"]]
        if "error" in line:
            cells += [line["error"].replace("|", "/"), *[""] * 5]
        else:
            sizes = (line.get(f"{name}_bytes") for name in ("peak", "resident", "temp"))
            cells += [f"{line['step_ms']:.2f}", *map(mib, sizes)]
            cells += [f"{line['compile_s']:.1f}" if "compile_s" in line else "", f"{line['loss']:.5f}"]
        text.append(f"| {' | '.join(cells)} |")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rows")
    parser.add_argument("--out")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--deadline", type=float, default=240, help="seconds until the first step is timed")
    parser.add_argument("--end", type=float, default=540, help="seconds until all ends")
    parser.add_argument("--slots", type=int, default=8, help="rows that compile at once")
    for name in ("--ready", "--go", "--lock", "--kept"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.all:
        if not options.out:
            parser.error("--all needs --out")
        print(table(run_all(rows_of(options.names or list(BIG), options.rows), options)))
    elif len(options.names) != 3 or options.names[0] not in MODELS or options.names[1] not in SETTINGS:
        parser.error(f"expected MODEL SYSTEM SETTING; models are {', '.join(MODELS)}, systems {', '.join(SETTINGS)}")
    else:
        print(json.dumps(run_row(options, tuple(options.names))), flush=True)


if __name__ == "__main__":
    main()
