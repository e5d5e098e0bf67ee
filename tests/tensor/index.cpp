#include <heed/tensor/kernels/index.h>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "generators.h"
#include "helpers.h"

using namespace heed;
using heed::test::expect_error;

namespace {

Tensor indices_of(const NestedList& values) { return tensor_of(values, DType::i64); }

/// Indices below `size` in a random layout.
Tensor any_indices(const Shape& shape, int64_t size) {
  Tensor spread = test::any_tensor(shape);  // numbers in [-2, 2)
  RC_PRE(size > 0 || spread.numel() == 0);
  Tensor indices = Tensor::empty(shape, DType::i64);
  int64_t* to = indices.mutable_data<int64_t>();
  const auto values = spread.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i)
    to[i] = static_cast<int64_t>((values[i] + 2) / 4 * static_cast<double>(size));
  Shape doubled = shape;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) doubled[axis] *= 2;
  Tensor strided = zeros(doubled, DType::i64);
  for (int64_t axis = 0; axis < shape.rank(); ++axis) strided = strided.slice(axis, 0, doubled[axis], 2);
  strided.copy_from(indices);
  return test::any_between(0, 1) == 0 ? strided : indices;
}

/// A shape to index x's shape with along the axis: no larger in the other axes.
Shape any_index_shape(const Shape& wide, int64_t axis) {
  Shape shape = wide;
  for (int64_t a = 0; a < shape.rank(); ++a)
    if (a == axis)
      shape[a] = test::any_between(0, 6);
    else if (test::any_between(0, 2) == 0)
      shape[a] = test::any_between(0, shape[a]);
  return shape;
}

/// The place that an element of the index points at.
std::vector<int64_t> place_of(std::vector<int64_t> index, int64_t axis, const Tensor& indices) {
  const auto place = static_cast<int64_t>(test::get(indices, index));
  index[static_cast<size_t>(axis)] = place;
  return index;
}

Tensor element(const Tensor& tensor, const std::vector<int64_t>& index) {
  Tensor rest = tensor;
  for (const int64_t i : index) rest = rest.select(0, i);
  return rest;
}

}  // namespace

TEST(index, gather_reads_each_place) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<DType> dtypes{DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean};
    const Shape shape = test::any_shape();
    RC_PRE(shape.rank() > 0);
    const Tensor x = test::any_tensor(shape, dtypes[static_cast<size_t>(test::any_between(0, 4))]);
    const int64_t axis = test::any_between(0, shape.rank() - 1);
    const Tensor index = any_indices(any_index_shape(shape, axis), shape[axis]);
    const Tensor y = kernels::gather(x, test::any_between(0, 1) == 0 ? axis : axis - shape.rank(), index);
    RC_ASSERT(y.shape() == index.shape() && y.dtype() == x.dtype());
    test::for_each_index(y.shape(), [&](const std::vector<int64_t>& at) {
      RC_ASSERT(test::get(y, at) == test::get(x, place_of(at, axis, index)));
    });
  }));
}

TEST(index, scatter_add_adds_at_each_place) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape = test::any_shape();
    RC_PRE(shape.rank() > 0);
    const DType dtype = test::any_between(0, 1) == 0 ? DType::f32 : DType::f64;
    const int64_t axis = test::any_between(0, shape.rank() - 1);
    const Tensor index = any_indices(any_index_shape(shape, axis), shape[axis]);
    const Tensor source = test::any_tensor(index.shape(), dtype);
    const Tensor y = kernels::scatter_add(shape, axis, index, source);
    RC_ASSERT(y.shape() == shape && y.dtype() == dtype);
    Tensor wanted = zeros(shape, DType::f64);
    test::for_each_index(index.shape(), [&](const std::vector<int64_t>& at) {
      Tensor place = element(wanted, place_of(at, axis, index));
      place.set({}, place.item() + test::get(source, at));
    });
    RC_ASSERT(allclose(y, wanted, 0, dtype == DType::f32 ? 1e-5 : 1e-13));
  }));
}

TEST(index, scatter_add_is_the_adjoint_of_gather) {
  Generator generator(3);
  const Tensor x = rand_normal({5, 7, 3}, 0, 1, DType::f64, generator),
               g = rand_normal({4, 9, 2}, 0, 1, DType::f64, generator);
  const Tensor index = rand_integers({4, 9, 2}, 0, 7, generator);
  const auto dot = [](const Tensor& a, const Tensor& b) {
    const auto left = a.to_vector<double>(), right = b.to_vector<double>();
    double total = 0;
    for (size_t i = 0; i < left.size(); ++i) total += left[i] * right[i];
    return total;
  };
  EXPECT_NEAR(dot(kernels::gather(x, 1, index), g), dot(x, kernels::scatter_add({5, 7, 3}, 1, index, g)),
              1e-12);
}

TEST(index, index_select_takes_slices) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<DType> dtypes{DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean};
    const Shape shape = test::any_shape();
    RC_PRE(shape.rank() > 0);
    const Tensor x = test::any_tensor(shape, dtypes[static_cast<size_t>(test::any_between(0, 4))]);
    const int64_t axis = test::any_between(0, shape.rank() - 1);
    const Tensor ids = any_indices({test::any_between(0, 6)}, shape[axis]);
    const Tensor y = kernels::index_select(x, test::any_between(0, 1) == 0 ? axis : axis - shape.rank(), ids);
    Shape wanted = shape;
    wanted[axis] = ids.numel();
    RC_ASSERT(y.shape() == wanted && y.dtype() == x.dtype());
    test::for_each_index(y.shape(), [&](const std::vector<int64_t>& at) {
      std::vector<int64_t> from = at;
      from[static_cast<size_t>(axis)] = static_cast<int64_t>(ids.at({at[static_cast<size_t>(axis)]}));
      RC_ASSERT(test::get(y, at) == test::get(x, from));
    });
  }));
}

TEST(index, one_hot_marks_each_id) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<DType> dtypes{DType::f32, DType::f64, DType::bf16, DType::i64, DType::boolean};
    const DType dtype = dtypes[static_cast<size_t>(test::any_between(0, 4))];
    const int64_t classes = test::any_between(0, 5);
    const Tensor ids = any_indices(test::any_shape(), classes), y = kernels::one_hot(ids, classes, dtype);
    Shape wanted = ids.shape();
    wanted.push_back(classes);
    RC_ASSERT(y.shape() == wanted && y.dtype() == dtype);
    test::for_each_index(ids.shape(), [&](const std::vector<int64_t>& at) {
      const auto row = element(y, at).to_vector<double>();
      for (size_t c = 0; c < row.size(); ++c)
        RC_ASSERT(row[c] == (static_cast<double>(c) == test::get(ids, at) ? 1.0 : 0.0));
    });
  }));
  EXPECT_EQ(kernels::one_hot(indices_of({0}), 1).dtype(), DType::f32);
}

TEST(index, nan_and_infinity_are_moved_as_they_are) {
  const Tensor x = tensor_of({NAN, INFINITY, 1});
  const auto read = kernels::gather(x, 0, indices_of({1, 0, 2})).to_vector<float>();
  EXPECT_TRUE(read[0] == INFINITY && std::isnan(read[1]) && read[2] == 1);
  const auto sums = kernels::scatter_add({3}, 0, indices_of({0, 2, 2}), x).to_vector<float>();
  EXPECT_TRUE(std::isnan(sums[0]) && sums[1] == 0 && sums[2] == INFINITY);
}

TEST(index, elements_for_one_place_are_added_in_their_order) {
  // in f32, 1e8 + 1 is 1e8 again: the order can be seen
  const Tensor index = zeros({3}, DType::i64);
  EXPECT_EQ(kernels::scatter_add({1}, 0, index, tensor_of({1e8, 1, -1e8})).item(), 0);
  EXPECT_EQ(kernels::scatter_add({1}, 0, index, tensor_of({1e8, -1e8, 1})).item(), 1);
}

TEST(index, empty_inputs) {
  const Tensor none = zeros({0}, DType::i64);
  EXPECT_EQ(kernels::gather(zeros({0}), 0, none).shape(), (Shape{0}));
  EXPECT_EQ(kernels::gather(zeros({2, 3}), 1, zeros({2, 0}, DType::i64)).shape(), (Shape{2, 0}));
  EXPECT_EQ(kernels::gather(zeros({2, 3}), 1, zeros({0, 5}, DType::i64)).shape(), (Shape{0, 5}));
  EXPECT_TRUE(equal(kernels::scatter_add({4}, 0, none, zeros({0})), zeros({4})));
  EXPECT_EQ(kernels::scatter_add({0}, 0, none, zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(kernels::index_select(zeros({0, 3}), 0, none).shape(), (Shape{0, 3}));
  EXPECT_EQ(kernels::index_select(zeros({2, 0}), 0, indices_of({1, 1, 0})).shape(), (Shape{3, 0}));
  EXPECT_EQ(kernels::one_hot(none, 0).shape(), (Shape{0, 0}));
  EXPECT_EQ(kernels::one_hot(scalar(1, DType::i64), 3).to_vector<float>(), (std::vector<float>{0, 1, 0}));
}

TEST(index, indices_out_of_range_are_named) {
  const Tensor x = zeros({2, 3});
  // strided, so that the check reads a copy
  const Tensor columns = indices_of({{0, 3}, {1, 1}, {2, -1}});
  expect_error<IndexError>([&] { kernels::gather(x, 1, columns.slice(0, 0, 2)); },
                           "[gather] index 3 is outside the 3 places");
  expect_error<IndexError>(
      [&] {
        kernels::gather(x, 0, indices_of({{0, 2, 0}}));
      },
      "[gather] index 2 is outside the 2 places");
  expect_error<IndexError>(
      [&] {
        kernels::scatter_add({2, 3}, -1, columns.slice(0, 1, 3), zeros({2, 2}));
      },
      "[scatter_add] index -1 is outside the 3 places");
  expect_error<IndexError>([&] { kernels::index_select(x, 1, columns.select(1, 1)); },
                           "[index_select] index 3 is outside the 3 places");
  expect_error<IndexError>([&] { kernels::one_hot(columns, 3); },
                           "[one_hot] index 3 is outside the 3 places");
  expect_error<IndexError>([] { kernels::one_hot(indices_of({0}), 0); },
                           "[one_hot] index 0 is outside the 0 places");
  expect_error<IndexError>([] { kernels::gather(zeros({0}), 0, indices_of({0})); },
                           "[gather] index 0 is outside the 0 places");
}

TEST(index, bf16_is_added_up_in_f32_and_rounded_once) {
  const Tensor places = zeros({1000}, DType::i64),
               source = ones({1000}, DType::bf16);  // 256 + 1 is 256 in bf16
  EXPECT_EQ(kernels::scatter_add({2}, 0, places, source).to_vector<float>(), (std::vector<float>{1000, 0}));
  EXPECT_EQ(kernels::index_add({2}, 0, places, source).to_vector<float>(), (std::vector<float>{1000, 0}));
}

TEST(index, checks_axes_dtypes_and_shapes) {
  const Tensor x = zeros({2, 3}), index = zeros({2, 3}, DType::i64);
  expect_error<IndexError>([&] { kernels::gather(x, 2, index); },
                           "[gather] wanted an axis in [-2, 2), came 2");
  expect_error<IndexError>([&] { kernels::gather(scalar(1), 0, index); }, "[gather] wanted an axis");
  expect_error<IndexError>(
      [&] {
        kernels::scatter_add({2, 3}, -3, index, x);
      },
      "[scatter_add] wanted an axis in [-2, 2), came -3");
  expect_error<IndexError>([&] { kernels::index_select(x, 2, zeros({1}, DType::i64)); },
                           "[index_select] wanted an axis in [-2, 2), came 2");
  expect_error<DTypeError>([&] { kernels::gather(x, 0, x); }, "[gather] wanted i64 indices, came f32(2, 3)");
  expect_error<DTypeError>(
      [&] {
        kernels::scatter_add({2, 3}, 0, x, x);
      },
      "[scatter_add] wanted i64 indices, came f32(2, 3)");
  expect_error<DTypeError>(
      [&] {
        kernels::scatter_add({2, 3}, 0, index, index);
      },
      "[scatter_add] wanted f32, f64 or bf16, came i64(2, 3)");
  expect_error<DTypeError>([&] { kernels::index_select(x, 0, zeros({1})); },
                           "[index_select] wanted i64 indices, came f32(1,)");
  expect_error<DTypeError>([] { kernels::one_hot(zeros({1}), 2); },
                           "[one_hot] wanted i64 indices, came f32(1,)");
  expect_error<ShapeError>([&] { kernels::gather(x, 0, zeros({2}, DType::i64)); },
                           "[gather] wanted an index of 2 axes, came (2,)");
  expect_error<ShapeError>(
      [&] {
        kernels::gather(x, 1, zeros({3, 3}, DType::i64));
      },
      "[gather] wanted an index no larger than (2, 3) but along axis 1, came (3, 3)");
  expect_error<ShapeError>(
      [&] {
        kernels::scatter_add({2, 3}, 0, index, zeros({3}));
      },
      "[scatter_add] wanted a source of the index's shape (2, 3), came (3,)");
  expect_error<ShapeError>([&] { kernels::scatter_add({2}, 0, index, x); },
                           "[scatter_add] wanted an index of 1 axes, came (2, 3)");
  expect_error<ShapeError>(
      [&] {
        kernels::scatter_add({2, 2}, 0, index, x);
      },
      "[scatter_add] wanted an index no larger than (2, 2) but along axis 0, came (2, 3)");
  expect_error<ShapeError>([&] { kernels::scatter_add({-1, 3}, 1, index, x); }, "wanted sizes of 0 or more");
  expect_error<ShapeError>([&] { kernels::index_select(x, 0, index); },
                           "[index_select] wanted ids (count), came (2, 3)");
  expect_error<ValueError>([&] { kernels::one_hot(index, -1); },
                           "[one_hot] wanted 0 classes or more, came -1");
  expect_error<DTypeError>([&] { kernels::gather(x, 0, Tensor{}); }, "[gather] wanted i64 indices, came");
}

TEST(index, the_numbers_do_not_depend_on_the_threads) {
  Generator generator(4);
  const Tensor x = rand_normal({900, 301}, 0, 1, DType::f32, generator);
  const Tensor index = rand_integers({900, 301}, 0, 40, generator);
  const auto evaluate = [&](int threads) {
    set_num_threads(threads);
    std::vector<Tensor> results;
    for (const int64_t axis : {0, 1}) {
      results.push_back(kernels::gather(x, axis, index));
      results.push_back(kernels::scatter_add(x.shape(), axis, index, x));
      results.push_back(kernels::index_select(x, axis, index.select(1 - axis, 7)));
    }
    return results;
  };
  const int before = num_threads();
  const auto one = evaluate(1), two = evaluate(2);
  set_num_threads(before);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(identical(one[i], two[i])) << i;
}
