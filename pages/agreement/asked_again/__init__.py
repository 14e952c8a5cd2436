"""What repeated questions show about judges: probes, drift."""
