"""Reads a page strictly: every element must be closed, in order, and identifiers must be unique."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img"}


class PageReader(HTMLParser):
    """A parsed page.

    Attributes:
        elements: The name and the attributes of each element, in order.
        texts: The texts by the name of the element that they stand in.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        targets = [attributes["href"] for _, attributes in self.elements if attributes.get("href", "").startswith("#")]
        assert {target[1:] for target in targets} <= set(ids), "every link within the page leads somewhere"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} has an attribute twice"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if self._open and data.strip():
            self.texts.setdefault(self._open[-1], []).append(data.strip())

    def all(self, tag: str) -> list[dict[str, str]]:
        """Returns the attributes of all elements of a name."""
        return [attributes for name, attributes in self.elements if name == tag]
