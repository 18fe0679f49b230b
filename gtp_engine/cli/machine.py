"""The hardware of this machine: CPU, GPU and what they support."""

import platform
from pathlib import Path

from ..base.errors import error_text


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


def bfloat16_gain() -> str:
    """Returns whether networks use bfloat16 on this CPU, and how much faster its products are; compiles them."""
    try:
        from ..kernels.network import has_bfloat16
        from ..kernels.precision import bfloat16_gain, bfloat16_is_faster
    except (ImportError, OSError) as error:
        return f"unknown, numba cannot be loaded: {error_text(error)}"
    if not has_bfloat16():
        return "not used: this CPU has no instructions for it (AVX-512 BF16, ARM BF16)"
    use = "used" if bfloat16_is_faster() else "not used"
    return f"{use}: products are about {bfloat16_gain():.2g} times as fast as in float32"
