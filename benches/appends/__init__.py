"""The cost of one append after one, 1,000 and 10,000 commits."""
