"""Scalar expressions: shared nodes, exact derivatives, straight-line programs."""

from torseur.algebra.graph.derivatives import (
    dense_jacobian,
    directional_derivative,
    gradient,
    jacobian,
    time_derivative,
    weighted_gradient,
)
from torseur.algebra.graph.evaluation import constant_value, evaluate, live_nodes, substitute, symbols_of
from torseur.algebra.graph.expr import PI, Expr, ExprLike, as_expr, constant, forget_unused, symbol
from torseur.algebra.graph.functions import Table, UndeterminedFunction
from torseur.algebra.graph.operations import OPERATIONS, Operation
from torseur.algebra.graph.program import COLUMNS, Block, Input, Output, Program, Solved, matrix, vector
from torseur.algebra.graph.sympy.sympy_bridge import from_sympy, to_sympy

__all__ = [
    "COLUMNS",
    "OPERATIONS",
    "PI",
    "Block",
    "Expr",
    "ExprLike",
    "Input",
    "Operation",
    "Output",
    "Program",
    "Solved",
    "Table",
    "UndeterminedFunction",
    "as_expr",
    "constant",
    "constant_value",
    "dense_jacobian",
    "directional_derivative",
    "evaluate",
    "forget_unused",
    "from_sympy",
    "gradient",
    "jacobian",
    "live_nodes",
    "matrix",
    "substitute",
    "symbol",
    "symbols_of",
    "time_derivative",
    "to_sympy",
    "vector",
    "weighted_gradient",
]
