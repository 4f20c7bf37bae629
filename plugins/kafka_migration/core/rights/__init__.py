"""The rights of a login on a cluster, and the ACLs that give them."""
