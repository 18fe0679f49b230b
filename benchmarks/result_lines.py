"""Files of results to which a benchmark appends a line at a time."""

from pathlib import Path


def whole_lines(path: Path) -> list[str]:
    """Returns the lines of a file, or an empty list if it does not exist; removes an incomplete last line."""
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return whole.splitlines()
