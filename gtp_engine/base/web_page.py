"""Web pages in one file: nothing is loaded from elsewhere, and a policy in the page has the browser refuse it."""

import base64
import hashlib
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str) -> "Environment":
    """Returns the templates in the folder of a package, in which all values are escaped, and none may be missing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # takes 40 ms

    loader = PackageLoader(package, "")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def web_page(
    title: str,
    body: str,
    *,
    style: str,
    script: str = "",
    style_attributes: Collection[str] = (),
    language: str = "en",
    direction: str = "ltr",
) -> str:
    """Returns a page as HTML, with a Content-Security-Policy that allows its own style and script and nothing else.

    The title is plain text, the body HTML; the script runs when the body is there. `style_attributes` are the values of
    `style` attributes that are allowed. The direction is "ltr" or "rtl".
    """
    styles = [content_hash(style), *(["'unsafe-hashes'"] if style_attributes else [])]
    styles += map(content_hash, style_attributes)
    scripts = content_hash(script) if script else ""
    about = {"title": title, "language": language, "direction": direction, "styles": " ".join(styles)}
    page = templates(__package__).get_template("web_page.html")
    return page.render(about, body=body, style=style, script=script, scripts=scripts) + "\n"


def content_hash(text: str) -> str:
    """Returns the source that allows a style or a script in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
