"""How a migration continues when one of its topics cannot be copied."""

OTHERS_CONTINUE = (
    "To continue with the other topics, remove this one from topics in the migration file (one that a pattern takes: "
    "add an item exclude) and trigger the run again."
)
COPY_ELSEWHERE = "Create a second migration file that copies the topic to a different target name (mirror.topic_names)."
RECREATED_TARGET = f"Find out who did this, and copy the topic again with a second migration file. {OTHERS_CONTINUE}"
RECREATED_MATTERS = "The records that were copied before are gone, and the records of the new topic are not the copy."
