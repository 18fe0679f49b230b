"""Numbers and names of KataGo's networks that compiled code has too: a change of this file compiles that again."""

RELU, MISH, SILU, IDENTITY = "ACTIVATION_RELU", "ACTIVATION_MISH", "ACTIVATION_SILU", "ACTIVATION_IDENTITY"

# KataGo's pooling centres the side of the board at 14 and scales it by a tenth.
MIDDLE_SIDE, SIDE_SCALE = 14.0, 0.1

PLANES, SCALARS = 22, 19  # inputs of the networks that this program can use
SUPERKO, TERRITORY = 6, 9  # indices of scalars that are not 0 under such rules
LARGEST_INTEGER = 127  # of weights: symmetric, so that they need no zero point; inputs of convolutions have one
