"""Figure 1 and the numbers of the text: surplus lives on the International Stroke Trial, aspirin and heparin."""
