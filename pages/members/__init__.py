"""A team server's screen for admins: members, providers with budgets, the audit record."""
