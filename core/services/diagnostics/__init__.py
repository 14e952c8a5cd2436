"""Diagnose judges and criteria: biases and faults, each as an effect with its evidence.

May import agreement and the layers below. Only findings that are sure and large enough are shown.
"""

__all__ = ["diagnosis", "evidence", "evidence_charts", "probe_edits", "probe_results", "probes"]
