"""`adhere design`: commands on designs, one module each."""

from adhere.cli.design.design import app as app
