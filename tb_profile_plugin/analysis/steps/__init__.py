"""How long steps take and what their time goes into, on one host or many, and which of them speak for the program."""
