"""`adhere trial`: commands on live trials, one module each."""

from adhere.cli.trial.trial import app as app
