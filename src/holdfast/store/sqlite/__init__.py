"""The embedded store: one SQLite file, any number of threads and processes."""
