#include <heed/tensor/kernels/index.h>

#include <heed/tensor/creation.h>
#include <heed/tensor/internal/dispatch.h>
#include <heed/tensor/internal/parallel.h>

namespace heed::kernels {
namespace {

/// The indices in order, each of them inside the size.
Tensor checked_indices(const char* op, const Tensor& index, int64_t size) {
  if (index.dtype() != DType::i64) raise<DTypeError>("[{}] wanted i64 indices, came {}", op, describe(index));
  Tensor inside = index.contiguous();
  for (const int64_t i : inside.span<int64_t>())
    if (i < 0 || i >= size) raise<IndexError>("[{}] index {} is outside the {} places", op, i, size);
  return inside;
}

/// Along the axis runs a line; the other axes number the lines.
struct Lines {
  Shape others;       // the index's sizes without the axis
  Strides wide, own;  // the strides of both arrays along them
  int64_t wide_step = 0, own_step = 0, length = 0;
};

/// wide: the array that is indexed; own: the array of the index's shape.
Lines make_lines(const char* op, const Tensor& wide, const Tensor& own, int64_t axis) {
  Lines lines;
  if (wide.rank() != own.rank())
    raise<ShapeError>("[{}] wanted an index of {} axes, came {}", op, wide.rank(), own.shape());
  for (int64_t a = 0; a < own.rank(); ++a) {
    if (a == axis) continue;
    if (own.shape()[a] > wide.shape()[a])
      raise<ShapeError>("[{}] wanted an index no larger than {} but along axis {}, came {}", op, wide.shape(),
                        axis, own.shape());
    lines.others.push_back(own.shape()[a]);
    lines.wide.push_back(wide.strides()[a]);
    lines.own.push_back(own.strides()[a]);
  }
  lines.wide_step = wide.strides()[axis];
  lines.own_step = own.strides()[axis];
  lines.length = own.shape()[axis];
  return lines;
}

/// f(where the line starts in the wide array, where in the own one)
template <class F>
void for_each_line(const Lines& lines, F f) {
  const int64_t count = element_count(lines.others);
  internal::parallel_chunks(count, internal::rows_per_chunk(lines.length * 4),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t line = begin; line < end; ++line) {
                                int64_t wide = 0, own = 0, rest = line;
                                for (int64_t a = lines.others.rank() - 1; a >= 0; --a) {
                                  const int64_t i = rest % lines.others[a];
                                  rest /= lines.others[a];
                                  wide += i * lines.wide[a];
                                  own += i * lines.own[a];
                                }
                                f(wide, own);
                              }
                            });
}

}  // namespace

Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) {
  axis = normalize_axis("gather", axis, x.rank());
  const Tensor which = checked_indices("gather", index, x.size(axis));
  Tensor out = Tensor::empty(index.shape(), x.dtype());
  const Lines lines = make_lines("gather", x, which, axis);
  internal::dispatch_all(x.dtype(), [&]<class T>(T) {
    const T* from = x.data<T>();
    const int64_t* place = which.data<int64_t>();
    T* to = out.mutable_data<T>();
    for_each_line(lines, [&](int64_t wide, int64_t own) {
      for (int64_t i = 0; i < lines.length; ++i)
        to[own + i * lines.own_step] = from[wide + place[own + i * lines.own_step] * lines.wide_step];
    });
  });
  return out;
}

Tensor scatter_add(const Shape& shape, int64_t axis, const Tensor& index, const Tensor& source) {
  axis = normalize_axis("scatter_add", axis, shape.rank());
  const Tensor which = checked_indices("scatter_add", index, shape[axis]), values = source.contiguous();
  if (source.shape() != index.shape())
    raise<ShapeError>("[scatter_add] wanted a source of the index's shape {}, came {}", index.shape(),
                      source.shape());
  Tensor out = zeros(shape, source.dtype());
  const Lines lines = make_lines("scatter_add", out, which, axis);
  internal::dispatch_floating("scatter_add", source, [&]<class T>(T) {
    T* to = out.mutable_data<T>();
    const int64_t* place = which.data<int64_t>();
    const T* from = values.data<T>();
    // Each line has places of its own, so no two threads add to one.
    for_each_line(lines, [&](int64_t wide, int64_t own) {
      for (int64_t i = 0; i < lines.length; ++i)
        to[wide + place[own + i * lines.own_step] * lines.wide_step] += from[own + i * lines.own_step];
    });
  });
  return out;
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& ids) {
  axis = normalize_axis("index_select", axis, x.rank());
  if (ids.rank() != 1) raise<ShapeError>("[index_select] wanted ids (count), came {}", ids.shape());
  const Tensor which = checked_indices("index_select", ids, x.size(axis));
  Shape shape = x.shape();
  shape[axis] = ids.numel();
  Tensor out = Tensor::empty(shape, x.dtype());
  const int64_t* place = which.data<int64_t>();
  for (int64_t i = 0; i < ids.numel(); ++i) out.select(axis, i).copy_from(x.select(axis, place[i]));
  return out;
}

Tensor one_hot(const Tensor& ids, int64_t classes, DType dtype) {
  if (classes < 0) raise<ValueError>("[one_hot] wanted 0 classes or more, came {}", classes);
  const Tensor which = checked_indices("one_hot", ids, classes);
  Shape shape = ids.shape();
  shape.push_back(classes);
  Tensor out = zeros(shape, dtype);
  const int64_t* place = which.data<int64_t>();
  internal::dispatch_all(dtype, [&]<class T>(T) {
    T* to = out.mutable_data<T>();
    for (int64_t i = 0; i < ids.numel(); ++i) to[i * classes + place[i]] = internal::convert<T>(1.0);
  });
  return out;
}

}  // namespace heed::kernels
