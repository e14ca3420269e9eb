"""Ways to say how near two clips are. A module for each way."""
