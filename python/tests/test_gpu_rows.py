"""The rows of gpu_rows.py, tiny and on the CPU, by the frameworks of this environment."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = Path(__file__).parent.parent / "benchmarks" / "gpu_rows.py"
HERE = [name for name in ("torch", "jax") if importlib.util.find_spec(name)]


def lines_of(out, *arguments):
    """The driver writes a line for each row."""
    command = [sys.executable, ROWS, "--all", "--device", "cpu", "--out", out, *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    subprocess.run(command, check=True, capture_output=True, timeout=240, env=environment)
    return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.mark.skipif(not HERE, reason="needs JAX or PyTorch")
def test_frameworks_take_equal_steps_and_a_failed_row_is_a_line(tmp_path):
    made = lines_of(tmp_path / "rows", "gpt2-tiny", "--rows", "torch,jax:plain,ckpt-jax:nonsense")
    lines = {line["system"]: line for line in made}
    assert set(lines) == {"torch", "jax", "ckpt-jax"}
    losses = [lines[name]["loss"] for name in HERE]
    assert losses == pytest.approx([5.55196] * len(HERE), abs=1e-4)
    assert all(lines[name]["step_ms"] > 0 for name in HERE)
    assert all("error" in lines[name] for name in lines if name not in HERE)


@pytest.mark.skipif(not HERE, reason="needs JAX or PyTorch")
def test_rows_that_are_not_ready_by_the_deadline_are_lines(tmp_path):
    asked = ["gpt2-tiny", "gpt2-tiny-bf16", "--rows", {"torch": "torch", "jax": "jax:plain"}[HERE[0]]]
    lines = lines_of(tmp_path / "rows", *asked, "--slots", "1", "--deadline", "0.5")
    assert [line["error"] for line in lines] == ["not ready by the deadline", "not started by the deadline"]
