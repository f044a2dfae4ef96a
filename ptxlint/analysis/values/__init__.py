"""What registers hold: the same in all threads, or how it differs from thread to thread."""
