"""The model of a landing of opensim-models with both legs free."""

import re


def unlocked(text):
    """The text of the file with all locks off but those of the platform and the toes."""
    free = re.compile(r'<Coordinate name="(?!platform|mtp)\w+">.*?</Coordinate>', re.DOTALL)
    return free.sub(lambda found: found[0].replace("<locked>true</locked>", "<locked>false</locked>"), text)
