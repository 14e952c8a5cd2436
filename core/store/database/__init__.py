"""The data file: one connection per thread, the tables, the migrations, backup."""
