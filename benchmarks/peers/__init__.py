"""The library beside its peers: `python -m benchmarks.peers`, one process for each formulation, which take turns.

A module of `arrays`, `loops` or `models` holds a model: its data, ours as the documentation would have it, and the
peers in their best idiomatic form. `driver` runs them, `worker` is the process of one, `table` says which run counts.

Each of our formulations is there twice, by the interpreter and as machine code by `compiled`. The columns of a table:

- ours, compiled: processor time of a call, by the interpreter and as machine code;
- best peer, its time: the fastest of the peers, without those that were added later;
- ours / best, compiled / best: the two ratios to it, below 1 where we are faster; below the first table stand their
  geometric means;
- with later forms: the same two, to a peer that was added later and is faster still;
- ours beyond numpy, for calls: what one call takes more than numpy's;
- our other forms: their ratios to the best peer;
- first calls: processor time from the data to the first result, of ours, of the machine code, and of JAX, in its faster
  formulation if there are two. JAX is imported before, llvmlite and what else the machine code needs is not;
- counts: whether the times were steady, and the numbers the same.
"""
