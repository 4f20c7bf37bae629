"""Which topics and groups must move together."""
