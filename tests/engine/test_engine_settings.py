"""Settings and parameters of an engine: how they are changed, and which are refused."""

import pytest
from engine.conftest import PATIENCE

from gtp_engine.base.errors import UserError
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK
from gtp_engine.nets.library import bundled_folder
from gtp_engine.search.request import Limits


def test_parameters_by_both_names(engine):
    engine.set_parameter("maxVisits", "12")
    engine.set_parameter("cpuctExploration", "2.5")
    assert engine.parameter("visits") == 12 and engine.parameters.c_puct == 2.5
    assert engine.best_move().report.visits == 12
    engine.set_parameter("maxTime", 0.5)
    engine.set_parameter("visits", "none")
    assert engine.settings.seconds == 0.5 and engine.parameter("maxVisits") is None
    engine.set_parameter("maxTime", "0")  # as in the settings: the root alone is evaluated
    assert engine.settings.seconds == EngineSettings(seconds=0).seconds == 0
    assert engine.analyze().result(PATIENCE).visits >= 1
    assert {"visits", "seconds", "rank", "c_puct"} <= set(engine.parameter_names())


def test_only_analysis_looks_more_widely(engine, monkeypatch):
    seen = []
    search = SearchWorker.search
    monkeypatch.setattr(
        SearchWorker, "search", lambda self, request: seen.append(request.parameters) or search(self, request)
    )
    engine.set_parameter("analysisWideRootNoise", "0.25")
    assert engine.parameter("analysis_wide_root_noise") == 0.25
    engine.analyze(engine.request(limits=Limits(visits=5))).result(PATIENCE)
    engine.genmove().result(PATIENCE)
    widened, *others = [parameters.wide_root_noise for parameters in seen]
    assert widened == 0.25 and set(others) == {0}
    for wrong in ("6", "-1", "none"):
        with pytest.raises(UserError, match=f"invalid analysisWideRootNoise '{wrong}': expected a number from 0 to 5"):
            engine.set_parameter("analysisWideRootNoise", wrong)


@pytest.mark.parametrize(
    "name, value",
    [("visits", "0"), ("visits", "1.5"), ("maxTime", "-1"), ("seconds", "soon"), ("c_puct", "x"), ("?", 1)],
)
def test_parameters_that_cannot_be(engine, name, value):
    before = engine.settings
    with pytest.raises(ValueError):
        engine.set_parameter(name, value)
    assert engine.settings == before


def test_an_engine_that_cannot_start_says_so_with_the_first_search(tmp_path):
    file = tmp_path / "broken.bin.gz"
    file.write_bytes(b"no network")
    with Engine(EngineSettings(network=file)) as engine:
        with pytest.raises(UserError, match="broken"):
            engine.ready.result(PATIENCE)
        with pytest.raises(UserError, match="broken"):
            engine.genmove(engine.request(BLACK)).result(PATIENCE)


def test_equal_settings_have_equal_hashes_and_a_path_becomes_a_text():
    path = bundled_folder() / "b4c32-9x9.bin.gz"
    one, same, other = (EngineSettings(path, parameters={"c_puct": value}) for value in (1, 1, 2))
    assert (one, hash(one), one.network) == (same, hash(same), str(path))
    assert one != other and len({one, same, other}) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"network": "no such network"}, "no network 'no such network'"),
        ({"network": 5}, "invalid network 5"),
        ({"visits": "100"}, "invalid visits '100': expected a whole number of 1 or more"),
        ({"visits": 0}, "invalid visits 0"),
        ({"seconds": "1"}, "invalid seconds '1'"),
        ({"threads": 1.5}, "invalid threads 1.5"),
        ({"threads": None}, "invalid threads None"),
        ({"seed": -1}, "invalid seed -1"),
        ({"resign_threshold": 2}, "invalid resign_threshold 2"),
        ({"device": "gpu"}, "invalid device 'gpu': expected auto, cpu"),
        ({"precision": "float8"}, "invalid precision 'float8'"),
        ({"ponder": "yes"}, "invalid ponder 'yes': expected true or false"),
        ({"strict": "no"}, "invalid strict 'no'"),
        ({"resign": 0}, "invalid resign 0"),
        ({"parameters": {"cpuct": 1}}, "unknown parameter 'cpuct'"),
        ({"parameters": "cpuct=1"}, "invalid parameters 'cpuct=1'"),
    ],
)
def test_invalid_settings_are_refused_where_they_are_given(settings, message):
    with pytest.raises(UserError, match=message):
        EngineSettings(**settings)


@pytest.mark.parametrize(
    "options",
    [
        {"settings": "none"},
        {"width": "9"},
        {"width": 9.0},
        {"rules": "go"},
        {"rules": 5},
        {"komi": "7.5"},
        {"komi": float("nan")},
    ],
)
def test_engines_of_other_types_are_refused(options):
    with pytest.raises(UserError):
        Engine(**({"settings": EngineSettings("uniform")} | options))
