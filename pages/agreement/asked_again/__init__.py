"""What is learned of judges by asking them again: probes, drift."""
