"""What the Spark job is asked, what it answers, and the verdicts that follow."""
