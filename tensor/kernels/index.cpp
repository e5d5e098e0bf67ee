#include <heed/tensor/kernels/index.h>

#include <algorithm>

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

/// A contiguous tensor as (blocks, count, width), cut along the middle into slices.
struct Slices {
  int64_t blocks = 1, count = 1, width = 1;
  int64_t place(int64_t block, int64_t i) const { return (block * count + i) * width; }
};

Slices slices_of(const Shape& shape, int64_t axis) {
  Slices slices;
  slices.count = shape[axis];
  for (int64_t a = 0; a < shape.rank(); ++a)
    if (a != axis) (a < axis ? slices.blocks : slices.width) *= shape[a];
  return slices;
}

/// f(block, begin, end) for runs of neighbouring slices, shared out among the threads.
template <class F>
void for_each_part(const Slices& s, F f) {
  internal::parallel_chunks(s.blocks * s.count, internal::rows_per_chunk(s.width * 4),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t at = begin; at < end;) {
                                const int64_t block = at / s.count, first = at % s.count;
                                const int64_t last = std::min(s.count, first + end - at);
                                f(block, first, last);
                                at += last - first;
                              }
                            });
}

/// One element by itself is quicker than a loop over it.
template <class T>
void copy_slice(T* to, const T* from, int64_t width) {
  if (width == 1)
    *to = *from;
  else
    std::copy_n(from, width, to);
}

template <class T>
void add_slice(T* to, const T* from, int64_t width) {
  if (width == 1) {
    *to += *from;
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) to[i] += from[i];
}

Tensor checked_ids(const char* op, const Tensor& ids, int64_t size) {
  if (ids.rank() != 1) raise<ShapeError>("[{}] wanted ids (count), came {}", op, ids.shape());
  return checked_indices(op, ids, size);
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
  internal::expect_floating("scatter_add", source);
  if (source.dtype() == DType::bf16)
    return scatter_add(shape, axis, index, source.to(DType::f32)).to(DType::bf16);
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
  const Tensor which = checked_ids("index_select", ids, x.size(axis)), values = x.contiguous();
  Shape shape = x.shape();
  shape[axis] = ids.numel();
  Tensor out = Tensor::empty(shape, x.dtype());
  if (out.numel() == 0) return out;
  const int64_t* place = which.data<int64_t>();
  const Slices wide = slices_of(x.shape(), axis), own = slices_of(shape, axis);
  internal::dispatch_all(x.dtype(), [&]<class T>(T) {
    const T* from = values.data<T>();
    T* to = out.mutable_data<T>();
    for_each_part(own, [&](int64_t block, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        copy_slice(to + own.place(block, i), from + wide.place(block, place[i]), own.width);
    });
  });
  return out;
}

Tensor index_add(const Shape& shape, int64_t axis, const Tensor& ids, const Tensor& source) {
  internal::expect_floating("index_add", source);
  if (source.dtype() == DType::bf16)
    return index_add(shape, axis, ids, source.to(DType::f32)).to(DType::bf16);
  axis = normalize_axis("index_add", axis, shape.rank());
  const Tensor which = checked_ids("index_add", ids, shape[axis]), values = source.contiguous();
  Shape wanted = shape;
  wanted[axis] = ids.numel();
  if (source.shape() != wanted)
    raise<ShapeError>("[index_add] wanted a source {}, came {}", wanted, source.shape());
  Tensor out = zeros(shape, source.dtype());
  if (source.numel() == 0) return out;
  const int64_t* place = which.data<int64_t>();
  const Slices wide = slices_of(shape, axis), own = slices_of(wanted, axis);
  internal::dispatch_floating("index_add", source, [&]<class T>(T) {
    const T* from = values.data<T>();
    T* to = out.mutable_data<T>();
    // Each block has places of its own, so no two threads add to one.
    internal::parallel_chunks(
        own.blocks, internal::rows_per_chunk(own.count * own.width * 4), [&](int64_t begin, int64_t end) {
          for (int64_t block = begin; block < end; ++block)
            for (int64_t i = 0; i < own.count; ++i)
              add_slice(to + wide.place(block, place[i]), from + own.place(block, i), own.width);
        });
  });
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
