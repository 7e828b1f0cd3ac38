"""What a tool is and what it answers: named tables and facts, declared once, in Python."""
