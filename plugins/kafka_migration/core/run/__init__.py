"""One run: its identity, window, conf, steps and the requests to stop it."""
