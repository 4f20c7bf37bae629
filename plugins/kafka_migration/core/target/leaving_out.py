"""How the other topics of a migration continue when one of them cannot be copied."""

OTHERS_CONTINUE = (
    "To continue with the other topics, remove this one from topics in the migration file (one that a pattern takes: "
    "add an item exclude) and trigger the run again."
)
