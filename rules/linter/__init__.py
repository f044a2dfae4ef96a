"""Category 9: what the linter says about itself. The engine makes these findings."""
