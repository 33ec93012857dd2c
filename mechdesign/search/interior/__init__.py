"""A primal-dual interior-point method for channels, one small KKT system for each output."""
