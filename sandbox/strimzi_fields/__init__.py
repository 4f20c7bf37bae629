"""The table of the fields of Strimzi's resources in the package, made from the definitions in Strimzi's repository."""
