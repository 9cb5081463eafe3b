"""A study's report: figures, tables and one HTML file that needs nothing else."""
