"""Published results, recomputed by ``talus validate``.

``checks`` states a number and its verdict, ``squeezer`` a mechanism, ``published`` the results, ``study`` the command.
"""
