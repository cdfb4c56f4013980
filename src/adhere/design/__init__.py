"""How a trial would behave: scenarios, operating characteristics, calibration, comparison, report."""
