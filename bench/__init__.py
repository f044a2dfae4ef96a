"""What produces the project's figures; each module says what it measures, and how to run it."""
