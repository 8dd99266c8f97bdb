"""From a mechanism, its equations and a motion to the content of a report."""

from torseur.report.compose.account import Account, account
from torseur.report.compose.compose import compose, outputs_for

__all__ = ["Account", "account", "compose", "outputs_for"]
