"""What a mechanism says itself, apart from what instances of parts bring into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torseur.algebra.graph import Expr
from torseur.description.mechanism import CONTENTS, Instance, Mechanism, Part
from torseur.description.mechanism.transformations.instancing import Content, Naming
from torseur.description.mechanism.transformations.reflection import component_signs


@dataclass(frozen=True)
class Own:
    """The content of a mechanism that its text writes out, and the instances that it writes as such."""

    content: Content
    instances: tuple[Instance, ...]

    def expressions(self, mechanism: Mechanism) -> tuple[Any, ...]:
        """Everything with formulas in the text."""
        given = [value for instance in self.instances for _, value in given_values(instance, mechanism)]
        return (mechanism.gravity, self.content, [instance.mounts for instance in self.instances], given)


def own_content(mechanism: Mechanism, keep_parts: bool, attachments: Sequence[str], held: Sequence[str]) -> Own:
    """A mechanism's own content: all of it, or what no instance brings; without stand-ins of attachments."""
    instances = mechanism.instances if keep_parts else ()
    brought = [instance.content for instance in instances]
    fields: dict[str, Any] = {}
    for kind in CONTENTS:
        theirs = [_key(thing) for content in brought for thing in getattr(content, kind)]
        taken = set(theirs) | ({*attachments} if kind == "bodies" else {*held} if kind == "joints" else set())
        fields[kind] = tuple(thing for thing in getattr(mechanism, kind) if _key(thing) not in taken)
    fields["initial"] = tuple(_own_initial(mechanism, brought))
    return Own(Content(**fields), instances)


def _key(thing: Any) -> Any:
    """The name of a thing, or itself where it has none."""
    if isinstance(thing, tuple):
        return thing[0]
    return getattr(thing, "name", thing) if not isinstance(thing, Expr) else thing


def _own_initial(mechanism: Mechanism, brought: Sequence[Content]) -> Iterator[tuple[str, Expr]]:
    """Initial values that no instance brings as they are."""
    theirs = {(name, value, name in content.guesses) for content in brought for name, value in content.initial}
    for name, value in mechanism.initial:
        if (name, value, name in mechanism.guesses) not in theirs:
            yield name, value


def given_values(instance: Instance, mechanism: Mechanism) -> list[tuple[str, Expr]]:
    """(name, value) of the part's parameters that are not what the part says, as they are in the mechanism now.

    A value is that of the part: components of something have the other sign in a mirror image.
    """
    part = instance.part.mechanism
    signs = {} if instance.across is None else component_signs(part, instance.across)
    defaults = Naming(part, instance.name, {name: frame.body for name, frame in instance.mounts}).in_formulas(
        tuple(p.value for p in part.parameters)
    )
    now = {p.name: p.value for p in mechanism.parameters}
    given = dict(instance.values)
    values = []
    for p, default in zip(part.parameters, defaults, strict=True):
        value = now.get(f"{instance.name}.{p.name}")
        # A value that moves has become a formula of the mechanism, and its parameter is gone.
        value = given.get(p.name) if value is None else -value if signs.get(p.name, 1) < 0 else value
        if value is not None and value is not default:
            values.append((p.name, value))
    return values


def parts_used(mechanism: Mechanism) -> list[Part]:
    """The parts behind the instances of a mechanism, each after those that it uses itself."""
    parts: dict[Part, None] = {}
    for instance in mechanism.instances:
        for inner in parts_used(instance.part.mechanism):
            parts[inner] = None
        parts[instance.part] = None
    return list(parts)
