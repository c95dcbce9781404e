"""The web explorer; not part of this version."""
