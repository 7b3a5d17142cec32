"""What is expected of a refusal."""

import re

import pytest

from runtime import Builder, ModelError
from tests.support.small_builder import counts


def assert_refused(words, call, /, *arguments, **options):
    """The call raises a ``ModelError`` of one line that contains the words, or each of several, or matches a pattern,
    and changes no builder; the line.

    Builders are those among the arguments, and the one whose method is called.
    """
    return refused_with(ModelError, words, call, *arguments, **options)


def refused_with(kind, words, call, /, *arguments, **options):
    """As ``assert_refused``, with a kind of error."""
    builders = [b for b in (getattr(call, "__self__", None), *arguments) if isinstance(b, Builder)]
    before = [counts(b) for b in builders]
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    said = str(caught.value)
    assert said.isprintable(), repr(said)  # a line break is not
    for word in (words,) if isinstance(words, str | re.Pattern) else words:
        assert word.search(said) if isinstance(word, re.Pattern) else word in said
    assert [counts(b) for b in builders] == before
    return said
