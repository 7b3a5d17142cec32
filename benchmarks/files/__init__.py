"""Models from files of other programs, against the program that owns the format."""
