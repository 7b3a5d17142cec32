"""Annotations by names of types (``type X = ...``), as numpy's NDArray is one from Python 3.12 on."""

import sys
import types
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from runtime.support.errors import Refused
from runtime.support.kinds import kind_of

ITEM = TypeVar("ITEM", bound=np.generic)


class Name:
    """What typing.TypeAliasType is, which Python has since 3.12."""

    def __init__(self, value):
        self.value = value

    @property
    def __value__(self):
        return self.value


def test_arrays_by_the_name_of_their_type():
    array = types.GenericAlias(np.ndarray, (tuple[int, ...], types.GenericAlias(np.dtype, (ITEM,))))
    for annotation in (types.GenericAlias(Name(array), (np.float64,)), Name(NDArray[np.float64]), NDArray[np.float64]):
        kind = kind_of(annotation)
        assert kind is not None
        assert kind.admit(np.ones(2)) is not None
        with pytest.raises(Refused):
            kind.admit(None)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12")
def test_names_of_python():
    from typing import TypeAliasType

    assert kind_of(TypeAliasType("Many", NDArray[np.int64])) is not None
