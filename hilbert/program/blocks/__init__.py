"""Programs run block by block along one index set: what is proved of a line, and how its blocks are put together."""
