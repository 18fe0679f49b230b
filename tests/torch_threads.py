"""A fixture that keeps torch on one thread: small networks are evaluated fastest so, above all on a busy machine."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    threads = torch.get_num_threads()
    if "slow" not in request.keywords:
        torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
