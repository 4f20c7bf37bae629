"""Reading both clusters for the wave planner."""
