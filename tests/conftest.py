"""Fixtures for all tests."""

from pathlib import Path

import pytest

import gtp_engine.training  # noqa: F401  (threads of torch's wait quietly from here on: tests run side by side)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `../shared` beside the checkout: large test data that is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip(f"no test data at {SHARED}")
    return SHARED
