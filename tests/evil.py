"""Expressions that take for ever, or very much memory, where they are tried one way after the other."""

TEXT = "a" * 30 + " model/layer b " * 12 + "\u0434\u0416" * 20
"""What they are tried on: some 260 letters."""

EXPRESSIONS = (
    r"(?x)(\w+) +\x00",
    r"(\w+)(?#)+\x00",
    "(?x)(a+)#c\n+b",
    "a?" * 40 + "a" * 40,
    "[a-z ]+" * 4 + "!",
    ".*" * 4 + r"\x00",
    "(a+)+$b",
    "(a|a)*b",
    "(?:(?:a*)*)*b",
    r"(x+x+)+y",
    r"(?:\w+\s?)+\x00",
    r"(?:a?){1000}a{1000}",
    "((a{100}){100}){100}",
    "[^a]{0,1000}b",
    r"\pL{1,100}",
    ".{1000}",
    "(?i)" + "|".join(f"name{i}" for i in range(140)),
    "(" * 400 + "a" + ")*" * 400,
    "a" * 10_000,
    "\u0434?" * 300,
    r"(a)\1+b",
    "(?=a+)a+b",
)
