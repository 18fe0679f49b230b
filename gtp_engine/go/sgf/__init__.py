"""Reading and writing game records in SGF."""

from .editing import Edit as Edit
from .editing import Editor as Editor
from .files import LINES_SUFFIX as LINES_SUFFIX
from .files import RECORD_SUFFIXES as RECORD_SUFFIXES
from .files import read_data as read_data
from .files import read_sgf as read_sgf
from .files import read_sgf_games as read_sgf_games
from .files import write_sgf as write_sgf
from .node import TreeNode as TreeNode
from .record import GameRecord as GameRecord
from .results import GameResult as GameResult
from .results import read_result as read_result
from .results import shown_result as shown_result
from .syntax import split_games as split_games
from .terms import Terms as Terms
from .terms import terms_of as terms_of
from .values import Properties as Properties
from .values import SgfError as SgfError
from .values import analysis_comment as analysis_comment
from .values import read_number as read_number
from .values import read_text as read_text
