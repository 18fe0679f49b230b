"""The texts of the pages: the same in every language, with the plural forms that the language has."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

import gtp_engine.base.languages
from gtp_engine.base.languages.texts import DEFAULT, LANGUAGES, Phrase, texts
from gtp_engine.nets.library import mean_errors

FOLDER = Path(gtp_engine.base.languages.__file__).parent
STORED = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
ABOUT = {language: stored.pop("about") for language, stored in STORED.items()}


def wordings(text: str | dict[str, str]) -> dict[str, str]:
    return text if isinstance(text, dict) else {"other": text}


def values_in(text: str) -> list[str]:
    return sorted(re.findall(r"{(\w+)}", text))


def test_a_file_is_all_that_a_language_needs() -> None:
    assert set(STORED) == set(LANGUAGES) and LANGUAGES[0] == DEFAULT == "en"
    assert len({about["name"] for about in ABOUT.values()}) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_says_about_itself_what_is_needed(language: str) -> None:
    about = ABOUT[language]
    assert set(about) == {"name", "locale", "direction", "plurals"} and about["direction"] in ("ltr", "rtl")
    assert about["locale"].split("-")[0] == language
    assert {texts(language).plural_form(number) for number in range(1000)} == {*about["plurals"], "other"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_texts_with_the_same_values(language: str) -> None:
    stored = STORED[language]
    missing, unknown = sorted(set(STORED["en"]) - set(stored)), sorted(set(stored) - set(STORED["en"]))
    assert (missing, unknown) == ([], [])
    for name, text in stored.items():
        wanted = values_in(wordings(STORED["en"][name])["other"])
        for form, wording in wordings(text).items():
            assert re.sub(r"{\w+}", "", wording).count("{") == 0 and wording.strip() == wording != "", name
            # A form for one number may say it in a word.
            number = ["count"] if form in ("zero", "one", "two") and "{count}" not in wording else []
            assert sorted(values_in(wording) + number) == wanted, (name, form)


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_with_plural_forms_have_all_of_the_language(language: str) -> None:
    forms = {*ABOUT[language]["plurals"], "other"}
    for name, text in STORED[language].items():
        if isinstance(text, dict):
            assert set(text) == forms != {"other"}, name
            assert "{count}" in text["other"], name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_says_how_the_keyboard_gets_to_the_board(language: str) -> None:
    """After a click on the board the arrow keys step through the game: the cursor moves once Tab has led there."""
    said = STORED[language]["boardHelp"]
    assert re.search(r"\bTab\b", said, re.ASCII)


def test_the_errors_of_a_network_are_those_of_its_card() -> None:
    network = "b6c64-19x19"
    card = files("gtp_engine.weights").joinpath(f"{network}.md").read_text("utf-8")
    measured = re.search(r"^\| this one \| games, 19x19 \| [\d.]+ \| ([\d.]+) \| ([\d.]+) \|", card, re.MULTILINE)
    assert measured is not None
    winrate, lead = map(float, measured.groups())
    assert mean_errors(network) == (round(lead, 1), round(100 * winrate))


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", {"one": [1], "other": [0, 2, 3, 11, 21, 101]}),
        ("es", {"one": [1], "other": [0, 2, 3, 11, 21, 101]}),
        (
            "ar",
            {
                "zero": [0],
                "one": [1],
                "two": [2],
                "few": [3, 4, 10, 103, 110],
                "many": [11, 12, 26, 99, 111, 199],
                "other": [100, 101, 102, 200, 1002],
            },
        ),
    ],
)
def test_numbers_choose_the_form_that_unicode_lists_for_them(language: str, forms: dict[str, list[int]]) -> None:
    """The numbers are CLDR's examples."""
    stored = STORED[language]["trust.visits"]
    for form, numbers in forms.items():
        for number in numbers:
            said = re.sub("[\u2068\u2069]", "", texts(language)("trust.visits", count=number))
            assert said == stored[form].replace("{count}", f"{number:,}"), number


def test_arabic_counts_stones() -> None:
    said = {
        count: re.sub("[\u2068\u2069]", "", texts("ar")("reason.stones", count=count, place="D4"))
        for count in (1, 2, 3, 11, 100)
    }
    assert said == {
        1: "المجموعة عند D4 (حجر واحد)",
        2: "المجموعة عند D4 (حجران)",
        3: "المجموعة عند D4 (3 أحجار)",
        11: "المجموعة عند D4 (11 حجرا)",
        100: "المجموعة عند D4 (100 حجر)",
    }


def test_phrases_hold_phrases() -> None:
    stones = Phrase("reason.stonesOf", {"count": 5, "place": "K10", "owner": Phrase("white")})
    caught = Phrase("reason.catches", {"better": "D4", "stones": stones})
    assert texts().say(caught) == "D4 catches White's 5 stones at K10 in a ladder."
    assert texts("es").say(caught) == "D4 captura el grupo de Blanco en K10 (5 piedras) en escalera."
    one = Phrase("reason.stonesOf", {"count": 1, "place": "K10", "owner": Phrase("white")})
    assert texts("es").say(one) == "la piedra de Blanco en K10"
    assert texts("zh").say(caught) == "D4 可征吃白方 K10 处的 5 子。"


def test_values_are_isolated_in_languages_from_right_to_left() -> None:
    assert texts("ar")("ahead.black", points="3.5") == "للأسود \u20683.5\u2069"
    assert "\u2068{points}\u2069" in texts("ar").template("ahead.black")
    for language in ("en", "es", "zh"):
        assert "\u2068" not in texts(language)("ahead.black", points="3.5")


def test_a_missing_text_and_a_missing_value_are_errors() -> None:
    assert "reason.dame" in texts().names and "reason.sake" not in texts().names
    for name in ("reason.sake", "reason.dame"):
        with pytest.raises(KeyError):
            texts()(name)
