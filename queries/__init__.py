"""Questions to a provenance graph, one `.cypher` file each, and the catalogue that reads them."""

from queries.catalogue import Column, Parameter, Query, catalogue, find, parse, with_folders

__all__ = ["Column", "Parameter", "Query", "catalogue", "find", "parse", "with_folders"]
