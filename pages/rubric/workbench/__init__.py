"""Try one criterion on a few rows before asking anything else."""
