"""Every test of this folder runs torch on one thread."""

from torch_threads import one_thread

__all__ = ["one_thread"]
