"""Values that users write: what is accepted, and the words of refusals."""

import math
from typing import Any

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.fields import Flag, Range, Words, did_you_mean, parse_board_size, unknown

KOMI = Range(-150, 150)


@pytest.mark.parametrize(
    ("accepted", "text"),
    [
        (Range(), "a number"),
        (Range(0), "a number of 0 or more"),
        (Range(high=3), "a number of 3 or less"),
        (Range(0.5, 1), "a number from 0.5 to 1"),
        (Range(0, above=True), "a number above 0"),
        (Range(0, 1, above=True), "a number above 0, up to 1"),
        (Range(1, 10, whole=True), "a whole number from 1 to 10"),
        (Range(0, 2**62, whole=True), "a whole number from 0 to 4611686018427387904"),
        (Range(0, above=True, noun="number of seconds"), "a number of seconds above 0"),
    ],
)
def test_a_range_describes_itself(accepted: Range, text: str) -> None:
    assert str(accepted) == text


def test_bounds_of_a_range() -> None:
    assert 0 in Range(0, 1) and 1 in Range(0, 1) and 1.01 not in Range(0, 1) and -0.01 not in Range(0, 1)
    assert 0 not in Range(0, above=True) and 1e-9 in Range(0, above=True)
    assert 2.0 in Range(whole=True) and 2.5 not in Range(whole=True)
    assert all(number not in Range() for number in (math.nan, math.inf, -math.inf))


@pytest.mark.parametrize("value", ["7.5", " 7.5 ", 7.5])
def test_numbers_may_be_written_as_text(value: object) -> None:
    assert KOMI.parse("komi", value) == 7.5


def test_whole_numbers_are_int_and_others_float() -> None:
    whole = [Range(1, whole=True).parse("visits", value) for value in ("1e3", 1000.0, 2**60 + 1)]
    assert whole == [1000, 1000, 2**60 + 1] and {type(number) for number in whole} == {int}
    assert type(KOMI.parse("komi", 7)) is float


@pytest.mark.parametrize("value", ["abc", "", "nan", "inf", "151", -150.5, True, None, [7], 10**400, "1" * 400])
def test_what_is_not_accepted_is_named(value: object) -> None:
    with pytest.raises(UserError) as caught:
        KOMI.parse("komi", value)
    message = str(caught.value)
    assert message.startswith(f"invalid komi {value!r}"[:60])
    assert message.endswith(": expected a number from -150 to 150") and len(message) < 120


def test_text_is_no_number_of_json_and_toml() -> None:
    assert KOMI.parse("komi", 7, from_text=False) == 7
    with pytest.raises(UserError, match="invalid komi '7': expected a number from -150 to 150"):
        KOMI.parse("komi", "7", from_text=False)


def test_true_and_false_have_many_words() -> None:
    assert all(Flag().parse("ponder", value) for value in (True, "true", "t", "Yes", " on ", "1", 1))
    assert not any(Flag().parse("ponder", value) for value in (False, "false", "F", "NO", "off", "0", 0))
    with pytest.raises(UserError, match="invalid ponder 'maybe': expected true or false"):
        Flag().parse("ponder", "maybe")


def test_words() -> None:
    assert Words(("visits", "lcb")).parse("choice", " lcb ") == "lcb"
    with pytest.raises(UserError, match="invalid choice 'best': expected visits or lcb"):
        Words(("visits", "lcb")).parse("choice", "best")
    with pytest.raises(UserError, match=r"invalid choice 'best': expected a, b or c$"):
        Words({"a": 1, "b": 2, "c": 3}).parse("choice", "best")
    with pytest.raises(UserError, match=r"invalid choice 'best': expected a$"):
        Words(("a",)).parse("choice", "best")


@pytest.mark.parametrize(
    ("text", "size"),
    [("9", (9, 9)), ("13x9", (13, 9)), ("13X9", (13, 9)), ("13:9", (13, 9)), (" 13 : 9 ", (13, 9)), ("025", (25, 25))],
)
def test_board_sizes(text: str, size: tuple[int, int]) -> None:
    assert parse_board_size(text, 2, 25) == size


@pytest.mark.parametrize(
    "text", ["", "1", "26", "9x26", "1x9", "9x", "x9", "-9", "9.0", "nine", "9x9x9", "\u0669", "9" * 20]
)
def test_what_is_no_board_size(text: str) -> None:
    with pytest.raises(UserError, match="expected N or WIDTHxHEIGHT, each from 2 to 25"):
        parse_board_size(text, 2, 25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "unknown parameter 'komii': did you mean 'komi'?"),
        ({"where": " in [games]"}, "unknown parameter 'komii' in [games]: did you mean 'komi'?"),
        ({"name": "zzz"}, "unknown parameter 'zzz': expected komi, visits"),
        ({"name": "zzz", "accepted": ["komi"]}, "unknown parameter 'zzz': expected komi"),
    ],
)
def test_unknown_names_come_with_the_nearest(options: dict[str, Any], message: str) -> None:
    assert str(unknown("parameter", **({"name": "komii", "known": ["komi", "visits"]} | options))) == message


def test_a_guess_is_no_message_where_nothing_is_near() -> None:
    assert did_you_mean("zzz", ["komi"]) == ""
    assert did_you_mean("size", ["sizes", "size_", "komi"]) == "did you mean 'sizes' or 'size_'?"


def test_whole_numbers_above_2_53_stay_exact_in_text() -> None:
    assert Range(0, whole=True).parse("seed", "9007199254740993") == 2**53 + 1
    assert Range(0, whole=True).parse("seed", " 1e6 ") == 1_000_000


@pytest.mark.parametrize("accepted", [Range(0, 1), Range(0, whole=True), Flag(), Words(("a", "b"))])
def test_a_number_that_python_does_not_write_is_refused_in_one_line(accepted: Any) -> None:
    with pytest.raises(UserError, match="invalid seed a number of thousands of digits: expected"):
        accepted.parse("seed", -(10**5000))
