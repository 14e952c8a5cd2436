"""Diagnose judges and criteria: biases and faults, each as an effect with its evidence.

May import agreement and what is below. Findings are shown only if they are sure and large enough.
"""

__all__ = ["diagnosis", "evidence", "evidence_charts", "probe_edits", "probe_results", "probes"]
