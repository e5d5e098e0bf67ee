"""What bench_autograd measures, in PyTorch on one thread: medians of processor time over rounds."""

import statistics
import time

import torch

WIDTH, LENGTH, ROUNDS = 32, 10_000, 15


def recorded_add() -> float:
    a, b = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    start = time.process_time()
    for _ in range(LENGTH):
        a + b
    return (time.process_time() - start) / LENGTH * 1e9


def chain() -> tuple[float, float]:
    x, upstream = torch.ones(WIDTH, requires_grad=True), torch.ones(WIDTH)
    start = time.process_time()
    y = x
    for _ in range(LENGTH):
        y = y + 1
    middle = time.process_time()
    y.backward(upstream)
    return (middle - start) * 1e3, (time.process_time() - middle) * 1e3


def main() -> None:
    torch.set_num_threads(1)
    print(f"recorded_add    {statistics.median(recorded_add() for _ in range(ROUNDS)):8.0f} ns")
    forward, backward = zip(*(chain() for _ in range(ROUNDS)))
    print(f"chain_forward   {statistics.median(forward):8.1f} ms")
    print(f"chain_backward  {statistics.median(backward):8.1f} ms")
    with torch.autograd.set_detect_anomaly(True):
        print(f"chain_backward  {statistics.median(chain()[1] for _ in range(3)):8.1f} ms in anomaly mode")


if __name__ == "__main__":
    main()
