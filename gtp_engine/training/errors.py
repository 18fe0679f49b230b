"""Errors that end a run of training although the program has no bug."""

import torch

from ..base.errors import UserError


class ProcessLostError(UserError):
    """A process that the run needs has ended: a self-play worker, the cluster, or another training process."""


# A run may meet these at any time; each is reported in one line, and everything saved before is kept. Other errors of
# torch are bugs.
RESOURCE_ERRORS = (ProcessLostError, torch.OutOfMemoryError, MemoryError)
