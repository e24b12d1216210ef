"""Steps from one level down to the next."""
