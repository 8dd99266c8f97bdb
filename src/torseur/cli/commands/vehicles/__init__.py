"""Commands for vehicles: handling and suspensions."""
