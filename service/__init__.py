"""The face of the product: the command line and the HTTP service, thin shells around `core`."""
