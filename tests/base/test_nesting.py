"""Tests of the depth of JSON and TOML."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.nesting import DEEPEST, parse_json, parse_toml

TOO_DEEP = f"brackets are nested more than {DEEPEST} deep"


def nested(depth: int, begin: str = "[", end: str = "]", inside: str = "1") -> str:
    return begin * depth + inside + end * depth


@pytest.mark.parametrize("begin,end", [("[", "]"), ('{"a":', "}"), ('{"]\\"}":', "}"), (' [ "}]" , ', "]")])
def test_json_is_read_up_to_the_limit_and_refused_beyond_it(begin: str, end: str) -> None:
    text = nested(DEEPEST, begin, end)
    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)
    for deeper in (nested(DEEPEST + 1, begin, end), begin * 100_000):
        with pytest.raises(UserError, match=TOO_DEEP):
            parse_json(deeper)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(["[" * 1000, '"' + "{" * 1000, "\\", "[" * 1000 + '\\"', "'", "#", '"""']),
        json.dumps([[1], {"a": [2]}] * 1000),
        '\ufeff{"a": [1.5, null, true]}',
        '"\\u005b\ud800"',
    ],
)
def test_what_is_in_strings_is_no_nesting(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert parse_json(data) == json.loads(data)


@pytest.mark.parametrize("text", ["", "{", '"[[[', "\x00", "[1]]", '["a" # "', "9" * 5000])
def test_what_is_not_json_is_an_error_in_value(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


@pytest.mark.parametrize(
    ("quote", "more"),
    [('"', '\\"'), ("'", "\\"), ('"""', '"" \\"""\n#'), ("'''", "'' \n\"")],
)
def test_toml_is_read_with_all_its_strings_and_comments(quote: str, more: str) -> None:
    text = f"# don't [[[\"\na = [{quote}{'[' * 1000}{more}{quote}, 1] # '[{{\n"
    text += f"[b]\nc = {quote}]{quote}\nd = {nested(DEEPEST)}\n"
    assert parse_toml(text) == tomllib.loads(text)
    for value in (nested(DEEPEST + 1), "{a = " * 3000):
        with pytest.raises(UserError, match=TOO_DEEP):
            parse_toml(f"{text}e = {value}")


def test_what_is_not_toml_keeps_its_place() -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match="line 2"):
        parse_toml("a = 1\nb = ]\n")
    with pytest.raises(UserError, match="a number has too many digits"):
        parse_toml("a = " + "9" * 5000)


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_json, nested(DEEPEST)), (parse_toml, "a = " + nested(DEEPEST, "{a = ", "}"))],
)
def test_the_limit_takes_a_part_of_pythons_stack(parse: Callable[[str], Any], text: str) -> None:
    limit, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        depth += 1
    sys.setrecursionlimit(depth + 4 * DEEPEST)
    try:
        parse(text)
    finally:
        sys.setrecursionlimit(limit)


def test_no_module_parses_json_on_its_own_or_catches_the_end_of_the_stack() -> None:
    package = Path(__file__).parents[2] / "gtp_engine"
    own = {package / "base" / "nesting.py", package / "base" / "languages" / "texts.py"}  # the latter reads its own
    for path in set(package.rglob("*.py")) - own:
        text = path.read_text(encoding="utf-8")
        assert "json.load" not in text and "except RecursionError" not in text and ", RecursionError)" not in text, path
