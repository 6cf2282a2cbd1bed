"""The HTTP service: the app, its routes, who may call them, and errors as problems."""
