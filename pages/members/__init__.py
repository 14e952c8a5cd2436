"""The server's own screen for an admin: members, providers with their budgets, the record."""
