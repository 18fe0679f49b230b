"""What computer this is."""

import platform
from pathlib import Path

from ..wording import reason


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def gpu() -> str:
    """The devices that PyTorch can compute on beside the processor; imports torch."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"unknown, PyTorch does not load: {reason(error)}"
    if torch.cuda.is_available():
        return ", ".join(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    if torch.backends.mps.is_available():
        return "Apple mps"
    return "none that PyTorch can use"
