"""What is expected of a refusal."""

import pytest

from runtime import ModelError


def assert_refused(words, call, *arguments, **options):
    """The call raises a ``ModelError`` of one line that contains the words, or each of several."""
    with pytest.raises(ModelError) as caught:
        call(*arguments, **options)
    said = str(caught.value)
    assert said.isprintable(), repr(said)  # a line break is not
    for word in (words,) if isinstance(words, str) else words:
        assert word in said
