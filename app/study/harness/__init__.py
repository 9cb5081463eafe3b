"""What a study adds from the harness of one degree of freedom, job by job."""
