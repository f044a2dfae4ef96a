"""Member masks as sets of lanes: who is named, who is there, and whose value is read."""
