"""Collection: from records to reports, in files, by person, and in scikit-learn pipelines."""
