"""Mechanisms that report a set of inputs: subset selection and unary encoding."""
