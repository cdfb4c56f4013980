"""How fast adhere is on this machine's processor, side by side with hand-written C and with other libraries."""
