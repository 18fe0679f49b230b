"""Errors of game records."""

from ...base.errors import UserError


class SgfError(UserError):
    """A record that cannot be read or replayed; the message names the file and the reason."""
