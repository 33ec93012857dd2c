"""The tables of a saved file: every key that a file may have, and the form of its value.

No table has a key that is not named here, so that nothing in a file is unread. Where two keys
exclude one another, or belong to one notion, objective or kind of certificate only, each
combination is a table of its own. What the values must satisfy beyond their form is checked where
they are used. docs/certificates.md prints these tables.
"""
