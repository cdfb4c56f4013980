"""Methods for adaptive allocation: confidence sequences, AIPW, the randomisation test, the allocation check."""
