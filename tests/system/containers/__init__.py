"""Container files, held against the Compose schema and against the code that they run."""
