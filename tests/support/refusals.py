"""What is expected of a refusal."""

import pytest

from runtime import Builder, ModelError
from tests.support.small_builder import counts


def assert_refused(words, call, *arguments, **options):
    """The call raises a ``ModelError`` of one line that contains the words, or each of several, and changes no builder; the line.

    Builders are those among the arguments, and the one whose method is called.
    """
    builders = [b for b in (getattr(call, "__self__", None), *arguments) if isinstance(b, Builder)]
    before = [counts(b) for b in builders]
    with pytest.raises(ModelError) as caught:
        call(*arguments, **options)
    said = str(caught.value)
    assert said.isprintable(), repr(said)  # a line break is not
    for word in (words,) if isinstance(words, str) else words:
        assert word in said
    assert [counts(b) for b in builders] == before
    return said
