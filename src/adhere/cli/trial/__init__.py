"""`adhere trial`: one module for each command on live trials."""

from adhere.cli.trial.trial import app as app
