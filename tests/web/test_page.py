"""The files of the page: their texts and their size."""

import re
from pathlib import Path

import gtp_engine.web
from gtp_engine.languages.texts import LANGUAGES, texts

STATIC = Path(gtp_engine.web.__file__).parent / "static"
# The names with a dot are those of the page of a review.
TEXTS = {name for name in texts().names if "." not in name}
SCRIPTS = "".join(path.read_text("utf-8") for path in STATIC.glob("*.js"))
PAGE = (STATIC / "index.html").read_text("utf-8")


def test_the_page_offers_the_languages_that_there_are() -> None:
    offered = re.search(r"LANGUAGES = {(.*?)}", SCRIPTS, re.DOTALL)
    assert offered and set(re.findall(r"(\w+):", offered[1])) == set(LANGUAGES)


def test_every_text_is_used_and_every_used_text_exists() -> None:
    used = set(re.findall(r'data-(?:text|label|roledescription)="([\w-]+)"', PAGE))
    assert used <= TEXTS
    quoted = set(re.findall(r'"([\w-]+)"', SCRIPTS)) | used | {"direction"}
    quoted |= {f"{kind}-{name}" for kind in ("layer", "rules", "tool") for name in quoted}
    assert quoted >= TEXTS


def test_the_scripts_are_small_and_load_nothing_from_elsewhere() -> None:
    assert len(SCRIPTS.encode()) <= 250_000
    styles = (STATIC / "page.css").read_text("utf-8")
    for text in (PAGE, SCRIPTS.replace("http://www.w3.org/2000/svg", ""), styles):
        assert "http:" not in text and "https:" not in text and "url(" not in text
