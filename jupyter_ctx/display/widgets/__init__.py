"""The gauge, tables and forms, each with a static twin."""
