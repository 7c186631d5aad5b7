"""The library beside its peers: `python -m benchmarks.peers`, one process for each formulation, which take turns.

A module of `arrays`, `loops` or `models` holds a model: its data, ours as the documentation would have it, and the
peers in their best idiomatic form. `driver` runs them, `worker` is the process of one, `table` says which run counts.
"""
