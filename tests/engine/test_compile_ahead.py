"""What is compiled before several processes start."""

import pytest

from gtp_engine.base.warm_up import Step
from gtp_engine.engine import compile_ahead, worker


@pytest.mark.parametrize("is_cold", [True, False])
def test_code_is_compiled_ahead_if_there_is_none(monkeypatch: pytest.MonkeyPatch, is_cold: bool) -> None:
    steps: list[Step] = []
    monkeypatch.setattr(compile_ahead, "is_cold", lambda: is_cold)
    monkeypatch.setattr(worker, "warm_up", steps.extend)
    compile_ahead.compile_ahead()
    assert bool(steps) == is_cold
