"""A second checker of saved files, written from docs/certificates.md alone.

It shares nothing with the library: no line is imported, and every question is answered in the most
naive way, on problems of a few inputs. Privacy is decided for all pairs, in rationals between
bounds on e**a that are drawn together until they decide; nothing is rounded for good. A bound with
potentials is proved over all extreme rays, found among all choices of k - 1 rows. A mechanism is
written out as a matrix. What is too large for that raises `Unable`.
"""
