"""Work beside the game (`base.threads.in_background`): how long an end waits for it, and how often pages see it."""

import time

CLOSING_SECONDS = 5.0
_PUBLISH_SECONDS = 0.3


class Pace:
    """Tells whether pages are to see the progress of some work again; it may change far more often."""

    def __init__(self) -> None:
        self._published = 0.0

    def is_due(self) -> bool:
        """Whether the last time that this was so is long enough ago."""
        if time.monotonic() < self._published + _PUBLISH_SECONDS:
            return False
        self._published = time.monotonic()
        return True
