"""What is read before it is written, or as if nobody wrote it: polls, copies, read-only loads."""
