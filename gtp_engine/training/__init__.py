"""A network learns: from games that the engine plays against itself, and from game records."""

import os

# torch's threads wait for each other after every step of a layer. GNU OpenMP has them wait busily for a millisecond,
# which costs most of the speed when other programs want the processor (measured with b4c32 and two threads: 200
# positions a second in place of 1,400); so short a wait costs nothing when the machine is quiet. It counts if torch is
# not loaded yet. What the user says in this or in OpenMP's own variable holds.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
