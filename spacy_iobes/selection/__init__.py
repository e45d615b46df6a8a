"""Which sentences a person should read, what is suggested there, and when enough were read."""
