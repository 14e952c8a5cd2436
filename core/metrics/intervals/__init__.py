"""How sure a figure is: bootstrap, exact bounds, samples drawn unevenly, and differences."""
