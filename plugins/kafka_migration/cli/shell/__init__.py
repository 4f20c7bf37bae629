"""What every verb shares: arguments, output, refusals and the evidence."""
