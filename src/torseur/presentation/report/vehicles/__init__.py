"""Pages of vehicles: handling and suspension."""
