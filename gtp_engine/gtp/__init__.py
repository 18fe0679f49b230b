"""GTP version 2: lines in, answers out.

`reader` delivers lines, `loop` answers them in order, `commands` holds one function for each command, `session` what
they share. `protocol` knows the form of lines, `formats` the form of analysis.
"""
