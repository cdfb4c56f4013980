"""Guards: policies that decide some rounds themselves and leave the others to the policy inside."""
