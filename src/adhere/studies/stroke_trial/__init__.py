"""Reproduce Figure 1 and the text's numbers: surplus lives in the International Stroke Trial, aspirin and heparin."""
