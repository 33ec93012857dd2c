"""Estimating a distribution under high-low LDP: subset selection among the sensitive inputs."""
