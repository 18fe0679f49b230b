"""Games between engines, and what their results prove."""
