"""Faults for ten minutes (kills, full disks, frozen databases, jumping clocks), then a check of everything."""
