"""Agreement results as blocks, the same for pages, terminal and files."""
