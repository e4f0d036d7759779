# How lit finds and runs the tests.
import ctypes
import glob
import os
import shutil

import lit.formats

config.name = "ckpt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".problem", ".py"]
config.excludes = ["Inputs", "Models", "consumer", "dialect", "lit.cfg.py", "unit"]
config.test_source_root = os.path.dirname(__file__)

path = [config.ckpt_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["FILECHECK_OPTS"] = (
    "-enable-var-scope --allow-unused-prefixes=false"
)
config.substitutions.append(("%models", os.path.join(config.test_source_root, "Models")))
config.substitutions.append(("%python", config.python or "python3"))
config.substitutions.append(("%cmake_launcher", config.cmake_launcher))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%ckpt_build", config.ckpt_build_dir))
config.substitutions.append(("%ckpt_source", config.ckpt_source_dir))
config.substitutions.append(
    ("%ckpt_plugin", os.path.join(config.ckpt_build_dir, "lib", "CkptPlugin.so"))
)

# A CUDA driver without a device.
config.substitutions.append(
    ("%fake_cuda", os.path.join(config.ckpt_build_dir, "test", "FakeCuda"))
)
# A matmul library for it.
config.substitutions.append(
    ("%fake_cublaslt", os.path.join(config.ckpt_build_dir, "test", "FakeCublasLt"))
)


def count_gpus():
    """Asks the driver of this machine, if there is one."""
    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuInit(0)
        driver.cuDeviceGetCount(ctypes.byref(count))
    except (OSError, AttributeError):
        config.available_features.add("no-cuda-driver")
    return count.value


if count_gpus():
    config.available_features.add("gpu")

# The compiler of the CUDA toolkit.
if shutil.which("nvcc"):
    config.available_features.add("nvcc")

# The solver of the oracle in Inputs/check_milp.py (Debian: coinor-cbc).
if shutil.which("cbc"):
    config.available_features.add("cbc")

# The browser that opens the pages of reports (Debian: chromium).
if shutil.which("chromium"):
    config.available_features.add("chromium")

# The tools of packages (Debian: dpkg-dev) and the reader of manual pages (man-db).
for tool in ["dpkg-shlibdeps", "man"]:
    if shutil.which(tool):
        config.available_features.add(tool)

# Programs that are linked outside the build lack the libraries of sanitizers.
if config.sanitized:
    config.available_features.add("sanitized")

# Which scripts/carry links with.
if shutil.which("ld.lld"):
    config.available_features.add("lld")

# The assembler of the CUDA toolkit, where one is installed.
toolkit = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path=toolkit)
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

headers = os.path.join(os.path.dirname(toolkit), "include")
if os.path.exists(os.path.join(headers, "cuda.h")) and shutil.which("c++"):
    config.available_features.add("cuda-headers")
    config.substitutions.append(("%cuda_headers", headers))

# The matmul library itself: its descriptors need no device.
for library in ["lib", "lib64"]:
    folder = os.path.join(os.path.dirname(toolkit), library)
    if os.path.exists(os.path.join(folder, "libcublasLt.so.13")):
        config.available_features.add("cublaslt")
        config.substitutions.append(("%cublaslt", folder))

# How many random programs and texts the tests in Fuzz try, and from which seed.
for name in ["CKPT_STRESS", "CKPT_STRESS_FIRST"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

def importer(python):
    """The command that exports a step, from the sources of the Python package. JAX optimizes
    little for the expected results: a step runs once."""
    return f"env JAX_DISABLE_MOST_OPTIMIZATIONS=1 PYTHONPATH={os.path.join(config.ckpt_source_dir, 'python')} {python} -m ckpt import"


# Made by scripts/setup-jax; the tests in Python/Newest are those in Python, run with the newest.
jax_python = os.path.join(config.ckpt_source_dir, "build", "jax", "bin", "python")
config.substitutions.append(("%jax_import", importer(jax_python)))
if os.path.exists(jax_python):
    config.available_features.add("jax-export")

# The Python package, which scripts/setup-python installs beside the newest JAX, the oldest that it
# is for, and PyTorch.
for environment, name in [("jax-newest", ""), ("jax-package", "_oldest"), ("torch", "_torch")]:
    folder = os.path.join(config.ckpt_source_dir, "build", environment)
    config.substitutions.append(("%package" + name + "_python", os.path.join(folder, "bin", "python")))
    if glob.glob(os.path.join(folder, "lib", "python*", "site-packages", "ckpt", "_planner*.so")):
        config.available_features.add("python-package" + name.replace("_", "-"))

if glob.glob(os.path.join(config.ckpt_source_dir, "build/jax-newest/lib/python*/site-packages/ckpt_engine/_engine*.so")):
    config.available_features.add("python-engine")

# IREE, beside the newest JAX.
if glob.glob(os.path.join(config.ckpt_source_dir, "build/jax-newest/lib/python*/site-packages/iree/runtime")):
    config.available_features.add("iree")

# Made by scripts/setup-torch, which nothing runs by itself: PyTorch is large.
torch_python = os.path.join(config.ckpt_source_dir, "build", "torch", "bin", "python")
config.substitutions.append(("%torch_import", importer(torch_python)))
if os.path.exists(torch_python):
    config.available_features.add("torch-export")
