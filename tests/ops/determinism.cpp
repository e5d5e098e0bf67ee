#include <heed/tensor/compare.h>
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

/// Each large enough for three chunks or more, forward and backward: a chunk is 1 << 17 elements or units of
/// work.
std::vector<Large> large_ops() {
  const Tensor targets = rand_integers({2000}, 0, 200, *std::make_unique<Generator>(5));
  const Tensor ids = rand_integers({3000}, 0, 40, *std::make_unique<Generator>(6));
  const Tensor places = rand_integers({700, 300}, 0, 400, *std::make_unique<Generator>(7));
  const Tensor chosen = rand_bernoulli({700, 400}, 0.5, DType::boolean, *std::make_unique<Generator>(8));
  const auto wide = [](const Variable& x) { return x.to(DType::f64); };
  return {
      {"add", {{700, 400}, {400}}, [](In x) { return x[0] + x[1]; }},
      {"tanh", {{700, 400}}, [](In x) { return x[0].tanh(); }},
      {"gelu", {{700, 400}}, [](In x) { return gelu(x[0]); }},
      {"where", {{700, 400}, {700, 400}}, [=](In x) { return where(chosen, x[0], x[1]); }},
      {"masked_fill", {{700, 400}}, [=](In x) { return masked_fill(x[0], chosen, 3); }},
      {"dropout", {{700, 400}}, [=](In x) { return dropout_with_mask(x[0], chosen, 0.5); }},
      {"concat",
       {{400, 700}, {100, 700}},
       [](In x) {
         return concat({x[0], x[1]}, 0);
       }},
      {"sum_first", {{700, 400}}, [](In x) { return sum(x[0], {0}) * 2; }},
      {"sum_last", {{700, 400}}, [](In x) { return sum(x[0], {1}) * 2; }},
      {"sum_all", {{700, 400}}, [](In x) { return sum(x[0]) * 2; }},
      {"sum_middle", {{7, 300, 150}}, [](In x) { return sum(x[0], {1}) * 2; }},
      {"mean", {{700, 400}}, [](In x) { return mean(x[0], {0}) * 2; }},
      {"max_first", {{700, 400}}, [](In x) { return max(x[0], {0}); }},
      {"max_last", {{700, 400}}, [](In x) { return max(x[0], {1}); }},
      {"var_first", {{700, 400}}, [](In x) { return var(x[0], {0}); }},
      {"var_last", {{700, 400}}, [](In x) { return var(x[0], {1}); }},
      {"logsumexp_first", {{700, 400}}, [](In x) { return logsumexp(x[0], {0}); }},
      {"logsumexp_all", {{700, 400}}, [](In x) { return logsumexp(x[0]); }},
      {"gather", {{700, 400}}, [=](In x) { return gather(x[0], 1, places); }},
      {"sort", {{300, 300}}, [](In x) { return sort(x[0], 1).values; }},
      {"cumulative_sum", {{700, 400}}, [](In x) { return cumulative_sum(x[0], 1); }},
      {"matmul_f64",
       {{200, 70}, {70, 50}},
       [=](In x) { return matmul(wide(x[0]), wide(x[1])).to(DType::f32); }},
      {"cast", {{700, 400}}, [=](In x) { return wide(x[0]).to(DType::f32); }},
      {"softmax", {{600, 200}}, [](In x) { return x[0].softmax(-1); }},
      {"log_softmax", {{600, 200}}, [](In x) { return log_softmax(x[0], -1); }},
      {"cross_entropy", {{2000, 200}}, [=](In x) { return cross_entropy_losses(x[0], targets); }},
      {"bias_activation",
       {{700, 400}, {400}},
       [](In x) { return bias_activation(x[0], x[1], ActivationKind::gelu); }},
      {"layer_norm", {{3000, 64}, {64}, {64}}, [](In x) { return layer_norm(x[0], x[1], x[2]); }},
      {"rms_norm", {{3000, 64}, {64}}, [](In x) { return rms_norm(x[0], x[1]); }},
      {"embedding", {{40, 256}}, [=](In x) { return embedding(x[0], ids); }},
      {"gru_cell", {{200, 384}, {200, 384}, {200, 128}}, [](In x) { return gru_cell(x[0], x[1], x[2]); }},
      {"additive_score",
       {{6, 40, 64}, {6, 50, 64}, {64}},
       [](In x) { return additive_score(x[0], x[1], x[2]); }},
      {"attention",
       {{6, 70, 64}, {6, 90, 64}, {6, 90, 64}},
       [](In x) { return attention(x[0], x[1], x[2], {.heads = 4, .scale = 0.25}).output; }},
  };
}

/// The output and the gradients of the inputs.
std::vector<Tensor> evaluate(const Large& op, const std::vector<Tensor>& inputs, const Tensor& upstream,
                             int threads) {
  const int before = num_threads();
  set_num_threads(threads);
  const Variables in = leaves(inputs);
  const Variable output = op.run(in);
  output.backward(upstream.slice(0, 0, output.numel()).reshape(output.shape()));
  std::vector<Tensor> results{output.data()};
  for (const Variable& x : in) results.push_back(x.grad().data());
  set_num_threads(before);
  return results;
}

TEST(determinism, any_number_of_threads_gives_the_same_bits) {
  Generator generator(17);
  const Tensor numbers = rand_normal({1 << 20}, 0, 1, DType::f32, generator);
  for (const Large& op : large_ops()) {
    std::vector<Tensor> inputs;
    int64_t place = 0;
    for (const Shape& shape : op.shapes) {
      const int64_t end = place + element_count(shape);
      inputs.push_back(numbers.slice(0, place, end).reshape(shape));
      place = end;
    }
    const auto wanted = evaluate(op, inputs, numbers, 1);
    for (const int threads : {2, 3}) {
      const auto got = evaluate(op, inputs, numbers, threads);
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(identical(got[i], wanted[i]))
            << op.name << ", result " << i << ", " << threads << " threads";
    }
  }
}

TEST(determinism, random_masks_do_not_depend_on_threads) {
  const int before = num_threads();
  const auto draw = [](int threads) {
    set_num_threads(threads);
    Generator generator(23);
    return kernels::dropout_mask({300'003}, 0.3, generator);
  };
  const Tensor one = draw(1), two = draw(2), three = draw(3);
  set_num_threads(before);
  EXPECT_TRUE(identical(two, one));
  EXPECT_TRUE(identical(three, one));
}

}  // namespace
}  // namespace heed::test
