"""Fixtures, and which frameworks are here: each has an environment of its own."""

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

# Four devices of the host for the tests of sharding; JAX reads it when it is imported.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

# JAX compiles equal programs of different tests once. The folder lives as long as this process.
compiled = tempfile.TemporaryDirectory()
os.environ["JAX_COMPILATION_CACHE_DIR"] = compiled.name
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

# XLA assigns its buffers before LLVM optimizes, which takes half of a compilation: tests that are not
# of bits leave LLVM's optimizations out.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"

collect_ignore_glob = [f"test_{module}*.py" for module in ("jax", "torch") if importlib.util.find_spec(module) is None]
if importlib.util.find_spec("ckpt_engine") is None:
    collect_ignore_glob.append("test_*engine.py")


@pytest.fixture
def optimized():
    """Code of XLA as users run it."""
    import jax

    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)


@pytest.fixture
def gpt():
    """`(step, arguments)` of JAX with a Python loop over layers."""
    from jax_models import make_step

    return make_step(scanned=False)


@pytest.fixture
def scanned_gpt():
    """`(step, arguments)` of JAX with a scan over stacked layers."""
    from jax_models import make_step

    return make_step(scanned=True)
