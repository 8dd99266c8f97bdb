"""How numbers and names are written in C++11; T is the scalar."""

from __future__ import annotations

from torseur.codegen.c.spelling import RESERVED as C_RESERVED
from torseur.codegen.straight import Language, zero_based

RESERVED = C_RESERVED | frozenset((
    "T", "abs", "alignas", "alignof", "and", "and_eq", "bitand", "bitor", "catch", "char16_t", "char32_t", "char8_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr",
    "constinit", "decltype", "delete", "detail", "dynamic_cast", "explicit", "export", "friend", "max", "min",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "reinterpret_cast", "requires", "scratch", "size_t", "static_assert", "static_cast", "std",
    "template", "this", "thread_local", "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor",
    "xor_eq",
))  # fmt: skip


def literal(value: float) -> str:
    """A number as the scalar."""
    return f"T({float(value)!r})"


CPP = Language("C++", "cpp", ("//", ""), RESERVED, literal, zero_based)
