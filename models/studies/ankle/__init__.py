"""The ankle as a classical and as a modified universal joint: ``runs``, ``tables``, ``figures``; ``study.ankle`` makes them."""
