"""A JupyterHub for the class: two settings files to start from."""
