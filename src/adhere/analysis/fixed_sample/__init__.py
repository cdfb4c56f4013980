"""Effects by every view, with intervals for a fixed sample: comparisons, compliers, principal strata."""
