"""The kernels that bench_ops times, in PyTorch: milliseconds, the median of many runs into results handed in.

Debian's build wants OPENBLAS_CORETYPE=SKYLAKEX in its environment: its matrix products take ten times as long
without. Arguments: the number of threads (2 when none is given).
"""
import statistics
import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
torch.manual_seed(0)


def milliseconds(run):
    """The median over about half a second, after a few runs that warm up."""
    for _ in range(3):
        run()
    times = []
    while sum(times) < 0.5 or len(times) < 9:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def report(name, run):
    with torch.no_grad():
        print(f"{name:24} {milliseconds(run):10.4f}", flush=True)


for rows, columns in ((64, 1024), (4096, 4096)):
    x, y = torch.randn(rows, columns), torch.empty(rows, columns)
    weight, bias = torch.ones(columns), torch.zeros(columns)
    mean, deviation = torch.empty(rows, 1), torch.empty(rows, 1)
    size = f"{rows}/{columns}"
    report(f"copy/{size}", lambda: y.copy_(x))
    report(f"exp/{size}", lambda: torch.exp(x, out=y))
    report(f"tanh/{size}", lambda: torch.tanh(x, out=y))
    report(f"gelu/{size}", lambda: torch._C._nn.gelu(x, out=y))
    report(f"softmax/{size}", lambda: torch.softmax(x, -1, out=y))
    report(f"layer_norm/{size}", lambda: torch.native_layer_norm(x, (columns,), weight, bias, 1e-5))
    if hasattr(torch.ops.aten.native_layer_norm, "out"):
        out = torch.ops.aten.native_layer_norm.out
        report(
            f"layer_norm_out/{size}",
            lambda: out(x, [columns], weight, bias, 1e-5, out0=y, out1=mean, out2=deviation),
        )
for n in (512, 1024, 2048):
    a, b, c = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    report(f"matmul/{n}", lambda: torch.matmul(a, b, out=c))
