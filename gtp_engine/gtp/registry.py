"""The commands by name.

To add one, write one function with the decorator in a module of `commands`, and put its name into `LISTING_ORDER`.
"""

from collections.abc import Callable

from .session import Session

Handler = Callable[[Session, list[str]], str | None]

COMMANDS: dict[str, Handler] = {}

# The order of `list_commands`. LizzieYzy recognises the list by `protocol_version` at its top.
# fmt: off
LISTING_ORDER = (
    "protocol_version", "name", "version", "known_command", "list_commands", "quit", "stop", "cputime",
    "boardsize", "rectangular_boardsize", "clear_board", "komi", "get_komi", "play", "undo", "gg-undo",
    "set_position", "showboard", "clear_cache",
    "fixed_handicap", "place_free_handicap", "set_free_handicap",
    "time_settings", "kgs-time_settings", "kata-time_settings", "kata-list_time_settings", "time_left",
    "genmove", "reg_genmove", "kgs-genmove_cleanup",
    "lz-analyze", "kata-analyze", "lz-genmove_analyze", "kata-genmove_analyze", "cgos-genmove_analyze",
    "final_score", "final_status_list",
    "kata-get-rules", "kata-set-rules", "kata-set-rule", "kgs-rules",
    "kata-list-params", "kata-get-param", "kata-get-params", "kata-set-param", "kata-set-params",
    "gtp_engine-param", "loadsgf", "printsgf", "kata-raw-nn",
    "gogui-analyze_commands", "gogui-interrupt", "gogui-sigint",
    "gogui-play_sequence", "gogui-setup", "gogui-setup_player",
    "gtp_engine-priors", "gtp_engine-visits", "gtp_engine-win_rates", "gtp_engine-ownership",
    "gtp_engine-principal_variation", "gtp_engine-last_search", "gtp_engine-pass_alive", "gtp_engine-ladders",
    "kgs-chat", "cgos-opponent_name", "cgos-opponent_rating", "cgos-gameover",
)
# fmt: on


def command(*names: str) -> Callable[[Handler], Handler]:
    """Registers a function as the handler of GTP commands.

    The handler receives the session and the command's arguments, and returns the text of the response (None: empty).
    To refuse the command it raises GtpError or another UserError with a text for the user, or lets an OSError pass,
    before it has changed anything. Any other exception is reported as an internal error.

    Args:
        names: The command's name, and further names for the same command.
    """

    def register(handler: Handler) -> Handler:
        for name in names:
            COMMANDS[name] = handler
        return handler

    return register


def command_names() -> list[str]:
    """Returns all commands in the order of LISTING_ORDER, which names every one of them: a test checks it."""
    return list(dict.fromkeys((*LISTING_ORDER, *COMMANDS)))
