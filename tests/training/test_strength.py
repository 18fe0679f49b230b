"""Matches between the networks of a run."""

from pathlib import Path

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.network.library import default_networks
from gtp_engine.training.limit import Limit
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.settings import RunSettings
from gtp_engine.training.strength import play_match


@pytest.mark.parametrize("kept", [None, 0, 1000])
def test_a_network_that_is_missing_or_damaged_is_named_with_what_helps(kept: int | None, tmp_path: Path) -> None:
    folder, whole = RunFolder(tmp_path), next(iter(default_networks())).read_bytes()
    folder.network(0).parent.mkdir()
    folder.network(5).write_bytes(whole)
    if kept is not None:
        folder.network(0).write_bytes(whole[:kept])
    problem = "missing" if kept is None else "damaged"
    message = f"{folder.network(0)} is {problem}, and a match needs it: restore it from a copy, or set every = 0"
    with pytest.raises(UserError) as error:
        play_match(folder, RunSettings(), (5, 0), 2, threads=1, limit=Limit(None), on_game=lambda _: None)
    assert str(error.value).startswith(message)
