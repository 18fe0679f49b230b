"""Fixtures for the tests of training."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    """Networks as small as these are slower with several threads, and much slower if other programs use the CPU."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
