"""Equations as sums of terms: multiplied out, shortened by trigonometry, each with its origin."""
