"""Typed models of everything a user or a run writes down. Unknown keys are errors."""
