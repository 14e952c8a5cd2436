"""Results of agreement as blocks, which pages, terminal and files write alike."""
