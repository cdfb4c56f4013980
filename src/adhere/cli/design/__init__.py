"""`adhere design`: one module for each command on designs."""

from adhere.cli.design.design import app as app
