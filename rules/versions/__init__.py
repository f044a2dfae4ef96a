"""Category 7: PTX versions, targets and drivers, and what needs which."""
