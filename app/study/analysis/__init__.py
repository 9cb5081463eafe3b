"""From figures to findings: intervals, tests, comparisons of strategies in pairs."""
