"""Exercise folders: read, made new, and proved to tell right from wrong."""
