# SPDX-License-Identifier: Apache-2.0
"""JAX: jit, gradients, a product."""

import os
import sys

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
# The fastest of several kernels is another one in each run, and sums by atomics end differently.
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    print("there is no jax")
    sys.exit(77)
if jax.default_backend() != "gpu":
    print("jax was built without CUDA")
    sys.exit(77)

key = jax.random.PRNGKey(0)
a = jax.random.normal(key, (256, 256))


@jax.jit
def f(m):
    return jnp.tanh(m @ m).sum()


print("value", repr(float(f(a))))
print("gradient", repr(float(jnp.abs(jax.grad(f)(a)).sum())))
print("cholesky", repr(float(jnp.linalg.cholesky(a @ a.T + 256 * jnp.eye(256)).sum())))
