"""From a mechanism, its equations and a motion to its account (account.py) and its report (compose.py)."""
