"""The hardware of this machine: CPU, GPU and what they support."""

import platform
from pathlib import Path

from ...base.errors import error_text


def cpu() -> str:
    """Returns the name of the CPU, as far as the system reports it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def gpu() -> str:
    """Returns the devices other than the CPU that PyTorch can use; imports torch."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"unknown, PyTorch cannot be loaded: {error_text(error)}"
    if torch.cuda.is_available():
        return ", ".join(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    if torch.backends.mps.is_available():
        return "Apple mps"
    return "none that PyTorch can use"


def network_kernels() -> list[tuple[str, str]]:
    """Returns titles and texts: what computes networks on this CPU and in which precisions; compiles some products."""
    try:
        from ...nets.kernels.llvm import VECTORS
        from ...nets.kernels.network import bfloat16_is_faster, has_bfloat16, has_float32, has_int8, product_gain
    except (ImportError, OSError) as error:
        return [("kernels", f"unknown, numba cannot be loaded: {error_text(error)}")]
    if not has_float32():
        return [("kernels", "none for this CPU: PyTorch computes networks")]
    half = "not used: this CPU has no instructions for it (AVX-512 BF16, ARM BF16)"
    if has_bfloat16():
        half = f"{'used' if bfloat16_is_faster() else 'not used'}: {_gain(product_gain('bfloat16'))}"
    integers = "not used: this CPU has no instructions for it (VNNI, ARM I8MM)"
    if has_int8():
        integers = f"used for networks that were rounded with --precision int8: {_gain(product_gain('int8'))}"
    return [("kernels", f"compiled code for {VECTORS}"), ("bfloat16", half), ("int8", integers)]


def _gain(ratio: float) -> str:
    return f"products are about {ratio:.2g} times as fast as in float32"
