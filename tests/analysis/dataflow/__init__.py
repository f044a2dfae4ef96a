"""Tests of the dataflow analyses."""
