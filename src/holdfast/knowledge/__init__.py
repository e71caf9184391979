"""What an agent learned: facts, preferences among them."""
