"""Patterns that Java accepts or refuses, most of them otherwise than Python."""

VALID = (
    *("orders", ".*", "", "a|b", "a(?i)b", r"[\w-z]", r"\cA", r"\x{41}", r"\e", "a*+", r"\p{L}", "[a-z&&[^b]]"),
    *("(?<name>x)", r"\Qx\E", r"(?<=a{1,3})b", r"\pL", "[]a]", r"\Q*\E", "(?i:a)", "}", "]", r"\R", r"\h", r"a++b"),
    *("(?>a|b)c", r"\0101", "[a|b]", r"[\-\.]", "a{2}", "(?=a)*", r"[\Q]\E]"),
)
INVALID = (
    *("{orders}", "a{x}", "(?P<n>a)", "(?#c)a", "*orders", "[a", "a{2,1}", "(a", "a)", r"\y", r"[a-\w]", "[z-a]"),
    *("+a", "a**", "\\", "[]", "[^]", "a{1|3}", "a(?i)*", "(?(1)a|b)"),
)
# Java refuses them too, but their syntax is not judged.
NOT_JUDGED = ("(?<a_b>x)", r"\k<x>", r"\p{", r"\x4", "(?<n>a)(?<n>b)", "[\\w-z-a]")
