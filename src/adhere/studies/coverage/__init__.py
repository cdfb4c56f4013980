"""Do the intervals hold? Analyses of trials whose truth is known, fixed and adaptive, by the thousand."""
