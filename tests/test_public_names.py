"""The public face: names of `torseur` are what their signature and docstring say."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import torseur

NAMES = [name for name in torseur.__all__ if not name.startswith("__")]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(torseur, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_shows_its_parameters_and_its_docstring(name):
    """Oracle: the interpreter's own reading. A module under the name of its function shows neither."""
    function = getattr(torseur, name)
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert kinds != {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    assert inspect.getdoc(function)


def test_functions_that_were_packages_once():
    assert {"loops", "sensitivity", "derive", "simulate", "identify", "sweep"} <= {*FUNCTIONS}
    assert "at" in inspect.signature(torseur.loops).parameters
    assert "criteria" in inspect.signature(torseur.sensitivity).parameters


def test_public_folders_are_few_and_known():
    folders = [name for name in NAMES if isinstance(getattr(torseur, name), ModuleType)]
    assert folders == [
        "algebra",
        "biomechanics",
        "identification",
        "intrinsic",
        "library",
        "published_studies",
        "vehicles",
    ]


def test_a_public_folder_has_what_it_lists_and_nothing_else():
    assert torseur.published_studies.oscillator.__doc__
    with pytest.raises(AttributeError, match="osscillator"):
        _ = torseur.published_studies.osscillator


@pytest.mark.parametrize("name", torseur.algebra.__all__)
def test_names_of_the_algebra_have_a_docstring(name):
    assert inspect.getdoc(getattr(torseur.algebra, name))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="simulatte"):
        _ = torseur.simulatte
