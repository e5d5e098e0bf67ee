"""Additive attention as bench_autograd times it, composed in PyTorch: milliseconds and the memory it takes.

Arguments: the number of threads (2 when none is given).
"""
import resource
import statistics
import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
BATCH, WORDS, HIDDEN = 8, 512, 256

q, k, v = (torch.randn(BATCH, WORDS, HIDDEN, requires_grad=True) for _ in range(3))
weight = torch.randn(HIDDEN, requires_grad=True)


def step():
    scores = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ weight
    (torch.softmax(scores, -1) @ v).sum().backward()


before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
times = []
for _ in range(4):
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
rise = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(f"additive_attention {statistics.median(times) * 1e3:8.0f} ms, {rise / 1e3:.0f} MB")
