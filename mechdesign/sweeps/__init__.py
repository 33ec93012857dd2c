"""Many problems at once: in batches on processes or machines, and along rising budgets."""
