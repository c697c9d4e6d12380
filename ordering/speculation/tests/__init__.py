"""The mappings, their mutants and what they are tried on."""
