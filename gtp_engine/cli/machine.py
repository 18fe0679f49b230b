"""The hardware of this machine: CPU, GPU and what they support."""

import platform
import time
from pathlib import Path

from ..base.errors import error_text

_TRIALS = 5  # the first ones warm up


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
    """Returns how much faster a typical convolution is in bfloat16 on this CPU; imports torch."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"unknown, PyTorch cannot be loaded: {error_text(error)}"

    def seconds(dtype: torch.dtype) -> float:
        weight = torch.ones(96, 96, 3, 3, dtype=dtype)
        points = torch.ones(8, 96, 19, 19, dtype=dtype).contiguous(memory_format=torch.channels_last)
        times = []
        for _ in range(_TRIALS):
            start = time.perf_counter()
            torch.nn.functional.conv2d(points, weight, padding=1)
            times.append(time.perf_counter() - start)
        return min(times)

    ratio = seconds(torch.float32) / seconds(torch.bfloat16)
    # A single trial on a machine that may be busy: two digits say enough.
    return f"convolutions about {ratio:.2g} times as fast as in float32" if ratio > 1 else "no faster than float32"
