"""Pages in one file, and the policy that keeps a browser from anything else."""

import base64
import hashlib
import re

from gtp_engine.base.web_page import web_page


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(page: str) -> dict[str, list[str]]:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None
    rules = [rule.split() for rule in found[1].split("; ")]
    return {name: values for name, *values in rules}


def test_only_its_own_style_and_script_are_allowed() -> None:
    page = web_page("A < B", "<p>x</p>", style="p{margin:0}", script="go();", style_attributes=["width:1px"])
    assert policy(page) == {
        "default-src": ["'none'"],
        "style-src": [digest("p{margin:0}"), "'unsafe-hashes'", digest("width:1px")],
        "script-src": [digest("go();")],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert "<title>A &lt; B</title>" in page
    assert page.index("<p>x</p>") < page.index("<script>go();</script>")


def test_a_page_without_script_allows_none() -> None:
    page = web_page("T", "", style="", language="ar", direction="rtl")
    assert "script-src" not in policy(page)
    assert policy(page)["style-src"] == [digest("")]
    assert '<html lang="ar" dir="rtl">' in page
