"""The exporter leaves JAX as it is."""

import jax
import jax.numpy as jnp
import pytest

from ckpt import export

pytest.importorskip("iree.compiler")


def test_no_rule_of_the_exporter_stays_behind():
    def step(x):
        return jnp.cumsum(jnp.sort(x)), jax.lax.top_k(x, 2)

    x = jnp.arange(8.0)
    assert "linalg.generic" in export.trace(step, (x,)).export()
    for platform in ("cpu", "tpu", "cuda"):
        assert "stablehlo.sort" in jax.jit(step).trace(x).lower(lowering_platforms=(platform,)).as_text()
