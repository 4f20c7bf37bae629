"""Clusters that a manager such as Ambari describes, presets of platforms, and the connections to create for them."""
