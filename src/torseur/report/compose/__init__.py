"""From a mechanism, its equations and a motion to the content of a report (compose.py), and its account (account.py)."""
