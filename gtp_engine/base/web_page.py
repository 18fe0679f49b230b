"""Web pages in one file: nothing is loaded from elsewhere, and a policy in the page has the browser refuse it."""

import base64
import hashlib
from collections.abc import Collection
from html import escape


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
    policy = ["default-src 'none'", f"style-src {' '.join(styles)}"]
    policy += [f"script-src {content_hash(script)}"] if script else []
    policy += ["base-uri 'none'", "form-action 'none'"]
    head = [
        f'<html lang="{language}" dir="{direction}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
    ]
    code = [f"<script>{script}</script>"] if script else []
    return "\n".join(["<!doctype html>", *head, "<body>", body, *code, "</body>", "</html>", ""])


def content_hash(text: str) -> str:
    """Returns the source that allows a style or a script in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
