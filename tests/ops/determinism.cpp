#include <heed/tensor/kernels/dropout.h>
#include <heed/tensor/random.h>
#include <heed/tensor/threads.h>

#include "tests/ops/op_case.h"

/// Work is cut by shape and never by the number of threads, so our own kernels give the same bits for any.
namespace heed::test {
namespace {

struct Large {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Variable(In)> run;
};

std::vector<Large> large_ops() {
  const Tensor targets = rand_integers({600}, 0, 200, *std::make_unique<Generator>(5));
  const Tensor ids = rand_integers({3000}, 0, 40, *std::make_unique<Generator>(6));
  return {
      {"add", {{300, 400}, {400}}, [](In x) { return x[0] + x[1]; }},
      {"tanh", {{300, 400}}, [](In x) { return x[0].tanh(); }},
      {"sum", {{300, 400}}, [](In x) { return sum(x[0], {0}) * 2; }},
      {"softmax", {{600, 200}}, [](In x) { return x[0].softmax(-1); }},
      {"cross_entropy", {{600, 200}}, [=](In x) { return cross_entropy_losses(x[0], targets); }},
      {"layer_norm", {{3000, 64}, {64}, {64}}, [](In x) { return layer_norm(x[0], x[1], x[2]); }},
      {"embedding", {{40, 256}}, [=](In x) { return embedding(x[0], ids); }},
      {"gru_cell", {{64, 384}, {64, 384}, {64, 128}}, [](In x) { return gru_cell(x[0], x[1], x[2]); }},
      {"additive_score",
       {{6, 40, 64}, {6, 50, 64}, {64}},
       [](In x) { return additive_score(x[0], x[1], x[2]); }},
      {"attention",
       {{6, 70, 64}, {6, 90, 64}, {6, 90, 64}},
       [](In x) { return attention(x[0], x[1], x[2], {.heads = 4, .scale = 0.25}).output; }},
  };
}

/// The output and the gradients of the inputs, for random numbers that are the same each time.
std::vector<Tensor> evaluate(const Large& op, int threads) {
  const int before = num_threads();
  set_num_threads(threads);
  Generator generator(17);
  std::vector<Tensor> inputs;
  for (const Shape& shape : op.shapes) inputs.push_back(rand_normal(shape, 0, 1, DType::f32, generator));
  const Variables in = leaves(inputs);
  const Variable output = op.run(in);
  output.backward(rand_normal(output.shape(), 0, 1, DType::f32, generator));
  std::vector<Tensor> results{output.data()};
  for (const Variable& x : in) results.push_back(x.grad().data());
  set_num_threads(before);
  return results;
}

TEST(determinism, any_number_of_threads_gives_the_same_bits) {
  for (const Large& op : large_ops()) {
    const auto wanted = evaluate(op, 1);
    for (const int threads : {2, 3}) {
      const auto got = evaluate(op, threads);
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(close(got[i], wanted[i], kExact))
            << op.name << ", result " << i << ", " << threads << " threads";
    }
  }
}

TEST(determinism, random_masks_do_not_depend_on_threads) {
  const int before = num_threads();
  const auto draw = [](int threads) {
    set_num_threads(threads);
    Generator generator(23);
    return kernels::dropout_mask({100003}, 0.3, generator);
  };
  const Tensor one = draw(1), two = draw(2);
  set_num_threads(before);
  EXPECT_TRUE(close(two, one, kExact));
}

}  // namespace
}  // namespace heed::test
