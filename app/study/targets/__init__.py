"""Published results, reproduced, where it can be on one degree of freedom."""
