"""GTP version 2: lines in, answers out.

`inbox` reads lines, `loop` answers them in order, `commands` contains one function per command, and `session` holds
what they share. `protocol` defines the form of lines, `formats` the form of analysis.
"""
