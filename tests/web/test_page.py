"""The files of the page: their texts and their size."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

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


def test_the_graph_hides_mistakes_while_guessing() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    script = """
        const element = () => ({set: {}, setAttribute(name, value) { this.set[name] = value; }});
        globalThis.document = {createElementNS: element};
        const {Graph} = await import(process.argv[1]);
        let drawn;
        const svg = {setAttribute() {}, addEventListener() {}, replaceChildren(...all) { drawn = all; }};
        const state = {curve: [[1, 0.5, 3]], moves: 2, place: 0, review: {mistakes: [{place: 1}]}};
        for (const guess of [null, {colour: null}, {colour: "both"}]) {
          new Graph(svg).show({...state, guess});
          console.log(drawn.find((each) => each.set.class === "mistakes").set.d !== "");
        }"""
    command = [node, "--input-type=module", "--eval", script, str(STATIC / "graph.js")]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert shown == ["true", "true", "false"]


def test_the_scripts_are_small_and_load_nothing_from_elsewhere() -> None:
    assert len(SCRIPTS.encode()) <= 250_000
    styles = (STATIC / "page.css").read_text("utf-8")
    for text in (PAGE, SCRIPTS.replace("http://www.w3.org/2000/svg", ""), styles):
        assert "http:" not in text and "https:" not in text and "url(" not in text
