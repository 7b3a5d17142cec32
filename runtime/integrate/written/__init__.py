"""Functions of one tree for all lanes, written where they are needed: what acts on it, its equations, rows of its loops."""
