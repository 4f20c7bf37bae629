"""Contracts that fakes and the real thing keep alike."""
