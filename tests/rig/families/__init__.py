"""Scenarios by family of incident: opposite cases that look alike from outside, and runs in which nothing happened."""
