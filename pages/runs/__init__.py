"""The list of runs, and the forms that plan one or a sweep of them."""
