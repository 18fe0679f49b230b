"""An engine whose evaluator knows nothing."""

import pytest

from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.solver import ahead

PATIENCE = 120  # seconds until a test that waits for the search thread fails: the core may have to be compiled


@pytest.fixture
def engine():
    with Engine(EngineSettings(network="uniform", threads=1, seed=1, visits=30), width=9) as engine:
        yield engine


@pytest.fixture(scope="module")
def solver() -> None:
    """The solver, which counts do not wait for."""
    ahead.prepare()
