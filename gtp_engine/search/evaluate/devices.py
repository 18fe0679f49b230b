"""The devices that compute networks. Importing this imports neither numba nor torch."""

import ctypes
import platform
import sys
from pathlib import Path

from ...base.errors import UserError
from .choices import AUTO, DEVICES


def check_device(name: str) -> None:
    """Raises UserError for a GPU on a machine without a driver for one, before anything is loaded."""
    if name not in (AUTO, "cpu") and not may_have_gpu():
        raise UserError(f"device {name!r} is not available: this machine has no GPU driver; use {AUTO} or cpu")


def find_device(name: str) -> str:
    """Returns the device of that name, the best one for AUTO; UserError if it is unknown or this machine lacks it.

    It imports torch only if there may be a GPU.
    """
    if name not in (AUTO, *DEVICES):
        raise UserError(f"unknown device {name!r}: expected {AUTO}, {', '.join(DEVICES)}")
    check_device(name)
    if name == "cpu" or not may_have_gpu():
        return "cpu"
    import torch

    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == AUTO:
        return next(kind for kind, found in available.items() if found)
    if not available[name]:
        raise UserError(f"device {name!r} is not available: torch {torch.__version__} does not find one")
    return name


def may_have_gpu() -> bool:
    """Whether this machine may have a GPU that torch can use: it has a driver, without which there is none."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    # AMD's and NVIDIA's drivers; the library of the latter may lie where only torch looks for it.
    if any(Path(device).exists() for device in ("/dev/kfd", "/dev/nvidiactl")):
        return True
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True
