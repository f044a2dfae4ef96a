"""What a GPU says: scripts that run on one, and keep what they saw as data for the tests."""
