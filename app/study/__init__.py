"""Studies: drives in virtual time, the same code fed with another clock."""
