"""Moving consumer groups: the plan, its approval, the writing."""
