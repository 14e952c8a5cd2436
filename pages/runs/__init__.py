"""The list of runs, and the forms that plan one run or a sweep."""
