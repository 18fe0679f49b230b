"""Settings: what follows from one declaration."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.fields import Range
from gtp_engine.base.settings import accepted, check, comment_of, like, meanings, setting, settings_of
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.training.run_settings import RunSettings


@dataclass(frozen=True)
class Example:
    """An example.

    Attributes:
        share: Share of the games,
            from 0 to 1.
        way: How it is done.
        width, height: The board.
        limit: Visits: at most so many.

    Raises:
        UserError: A value is wrong.
    """

    share: float = setting(0.5, 0, 1)
    way: str = setting("fast", accepts=("fast", "slow"))
    width: int = setting(9, 2)
    height: int = setting(9, 2)
    limit: int | None = setting(None, accepts=Range(1, whole=True), changeable=True)
    other: str = "no setting"

    def __post_init__(self) -> None:
        check(self)


def test_meanings_come_from_the_docstring() -> None:
    assert meanings(Example) == {
        "share": "Share of the games, from 0 to 1.",
        "way": "How it is done.",
        "width": "The board.",
        "height": "The board.",
        "limit": "Visits: at most so many.",
    }
    assert list(settings_of(Example)) == list(meanings(Example()))


def test_comments_add_what_is_accepted() -> None:
    assert comment_of(Example, "share") == "Share of the games, from 0 to 1. Range: 0 to 1."
    assert comment_of(Example(), "way") == "How it is done. Accepted: fast, slow."
    assert comment_of(Example, "width") == "The board. Range: 2 or more."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"share": 1.5}, "invalid share 1.5: expected a number from 0 to 1"),
        ({"share": "0.5"}, "invalid share '0.5': expected a number from 0 to 1"),
        ({"way": "odd"}, "invalid way 'odd': expected fast or slow"),
        ({"width": 9.5}, "invalid width 9.5: expected a whole number of 2 or more"),
        ({"width": None}, "invalid width None: expected a whole number of 2 or more"),
        ({"limit": 0}, "invalid limit 0: expected a whole number of 1 or more"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as caught:
        Example(**values)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_values_get_the_type_of_the_setting() -> None:
    example = Example(share=1, width=13.0, limit=None)  # type: ignore[arg-type]
    assert (type(example.share), type(example.width), example.limit) == (float, int, None)
    assert accepted(settings_of(Example)["limit"], "1e3", from_text=True) == 1000


def test_a_field_may_be_declared_like_another() -> None:
    @dataclass(frozen=True)
    class Copy:
        limit: int = like(Example, "limit", default=5, changeable=False)

    (item,) = settings_of(Copy).values()
    assert (Copy().limit, item.metadata["changeable"], item.metadata["accepts"]) == (5, False, Range(1, whole=True))


@pytest.mark.parametrize("section", [SearchParameters, EngineSettings, *map(type, vars(RunSettings()).values())])
def test_every_setting_has_a_meaning(section: type) -> None:
    assert not settings_of(section).keys() - meanings(section).keys()


def test_settings_without_docstrings() -> None:
    code = "from gtp_engine.training.settings_toml import RunSettings, to_toml; import gtp_engine.clients.cli.learn; "
    subprocess.run([sys.executable, "-OO", "-c", code + "to_toml(RunSettings())"], check=True)
