"""Programs as functions of CasADi."""
