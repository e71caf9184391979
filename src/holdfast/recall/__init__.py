"""Finding what matters and putting it into the prompt."""
