"""Figures, tables and pages of reports."""
