"""Forces linear in the parameters, and the combinations that they depend on."""
