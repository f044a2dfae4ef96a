"""Category 6: dataflow: values that are undefined, stale, dead or never reached."""
