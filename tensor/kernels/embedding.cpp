#include <heed/tensor/kernels/embedding.h>

#include <algorithm>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

void check_ids(const Tensor& ids, int64_t rows) {
  if (ids.dtype() != DType::i64) raise<DTypeError>("[embedding] wanted i64 ids, came {}", describe(ids));
  const Tensor all = ids.contiguous();
  for (int64_t id : all.span<int64_t>())
    if (id < 0 || id >= rows)
      raise<IndexError>("[embedding] id {} is outside the table of {} rows", id, rows);
}

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids) {
  if (table.rank() != 2)
    raise<ShapeError>("[embedding] wanted a table (rows, width), came {}", table.shape());
  check_ids(ids, table.size(0));
  const int64_t width = table.size(1);
  const Tensor from = table.contiguous(), which = ids.contiguous();
  Shape shape = ids.shape();
  shape.push_back(width);
  Tensor out = Tensor::empty(shape, table.dtype());
  internal::dispatch_floating("embedding", table, [&]<class T>(T) {
    const T* rows = from.data<T>();
    const int64_t* id = which.data<int64_t>();
    T* to = out.mutable_data<T>();
    internal::parallel_chunks(ids.numel(), internal::rows_per_chunk(width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) std::copy_n(rows + id[i] * width, width, to + i * width);
    });
  });
  return out;
}

Tensor embedding_backward(const Tensor& grad, const Tensor& ids, int64_t rows,
                          std::optional<int64_t> padding) {
  check_ids(ids, rows);
  const int64_t width = grad.size(-1);
  const Tensor upstream = grad.contiguous(), which = ids.contiguous();
  Tensor out = zeros({rows, width}, grad.dtype());
  internal::dispatch_floating("embedding_backward", grad, [&]<class T>(T) {
    const T* g = upstream.data<T>();
    const int64_t* id = which.data<int64_t>();
    T* to = out.mutable_data<T>();
    // Threads share out the columns: each id's sum is then made by one thread, in the order of the ids.
    const int64_t columns = ids.numel() < 256 ? width : 64;
    internal::parallel_chunks(width, std::max<int64_t>(columns, 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < ids.numel(); ++i) {
        if (padding == id[i]) continue;
        const T* from = g + i * width;
        T* line = to + id[i] * width;
#pragma omp simd
        for (int64_t column = begin; column < end; ++column) line[column] += from[column];
      }
    });
  });
  return out;
}

}  // namespace heed::kernels
