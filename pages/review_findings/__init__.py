"""What people's verdicts say of everything that nobody looked at."""
