"""Secured listeners of the sandbox's clusters: certificates, users and logins."""
