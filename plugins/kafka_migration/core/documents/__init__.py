"""The JSON form of values that are stored or sent."""
