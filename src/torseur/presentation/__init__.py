"""What people see: typeset equations, the report, the studio."""
