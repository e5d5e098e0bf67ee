#include <heed/tensor/internal/onednn.h>

#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <unordered_map>

#include <heed/tensor/error.h>
#include <heed/tensor/internal/parallel.h>
#include <heed/tensor/threads.h>

namespace heed::internal {
namespace {

/// Multiply-adds that are worth a thread of their own; see kRowChunkWork.
constexpr int64_t kWorkPerThread = 1 << 22;
constexpr size_t kMostPrimitives = 2048;

/// Everything that a primitive depends on.
struct Key {
  std::array<int64_t, 12> values;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t value : key.values) hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
    return static_cast<size_t>(hash ^ (hash >> 32));
  }
};

/// A primitive with its memory objects, whose data pointers are set anew for each run.
struct Plan {
  dnnl::matmul primitive;
  dnnl::memory a, b, bias, c;
  std::unordered_map<int, dnnl::memory> arguments;
};

const dnnl::engine& engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

dnnl::memory::desc matrix(const Product& p, int64_t rows, int64_t columns,
                          const std::array<int64_t, 3>& strides) {
  const auto type = p.dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  int64_t row = strides[1], column = strides[2];
  // The stride of an axis of size 1 means nothing, but oneDNN wants one of the two to be 1.
  if (columns == 1) column = row == 1 ? rows : 1;
  if (rows == 1) row = column == 1 ? columns : 1;
  if (p.batch == 1) return {{rows, columns}, type, dnnl::memory::dims{row, column}};
  const bool shared = strides[0] == 0;
  return {{shared ? 1 : p.batch, rows, columns},
          type,
          dnnl::memory::dims{shared ? rows * columns : strides[0], row, column}};
}

dnnl::matmul make_primitive(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                            const dnnl::memory::desc& bias, const dnnl::memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul(dnnl::matmul::primitive_desc(engine(), a, b, bias, c));
#else
  return dnnl::matmul(dnnl::matmul::primitive_desc({a, b, bias, c}, engine()));
#endif
}

Plan make_plan(const Product& p) {
  const auto a = matrix(p, p.m, p.k, p.a_strides);
  const auto b = matrix(p, p.k, p.n, p.b_strides);
  const auto c = matrix(p, p.m, p.n, {p.m * p.n, p.n, 1});
  dnnl::memory::desc bias;
  if (p.bias != nullptr) {
    const auto type = p.dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
    bias = p.batch == 1 ? dnnl::memory::desc({1, p.n}, type, dnnl::memory::dims{p.n, 1})
                        : dnnl::memory::desc({1, 1, p.n}, type, dnnl::memory::dims{p.n, p.n, 1});
  }
  Plan plan{make_primitive(a, b, bias, c),      dnnl::memory(a, engine(), nullptr),
            dnnl::memory(b, engine(), nullptr), {},
            dnnl::memory(c, engine(), nullptr), {}};
  plan.arguments = {{DNNL_ARG_SRC, plan.a}, {DNNL_ARG_WEIGHTS, plan.b}, {DNNL_ARG_DST, plan.c}};
  if (p.bias != nullptr) {
    plan.bias = dnnl::memory(bias, engine(), nullptr);
    plan.arguments.insert({DNNL_ARG_BIAS, plan.bias});
  }
  return plan;
}

Plan& plan_for(const Product& p, int threads) {
  thread_local std::unordered_map<Key, Plan, KeyHash> plans;
  const int64_t flags = (p.bias != nullptr) * 4 + (p.dtype == DType::bf16) * 2 + 1;
  const Key key{{p.batch, p.m, p.n, p.k, p.a_strides[0], p.a_strides[1], p.a_strides[2], p.b_strides[0],
                 p.b_strides[1], p.b_strides[2], flags, threads}};
  if (const auto found = plans.find(key); found != plans.end()) return found->second;
  if (plans.size() >= kMostPrimitives) plans.clear();
  return plans.emplace(key, make_plan(p)).first->second;
}

/// oneDNN takes its number of threads from OpenMP when a primitive is made and again when it runs.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

/// How BLAS sees a matrix: transposed or not, and the stride from line to line.
struct Layout {
  char order;
  int64_t stride;
};

Layout layout_of(const std::array<int64_t, 3>& strides, int64_t rows, int64_t columns) {
  // The stride of an axis of size 1 means nothing, but BLAS wants it to be large enough.
  const bool row_major = strides[2] == 1 || columns == 1;
  if (row_major) return {'N', std::max(rows == 1 ? 1 : strides[1], columns)};
  return {'T', std::max(strides[2], rows)};
}

/// One f32 product without a bias: quicker than the primitive, most of all where the first matrix is
/// transposed.
void multiply_by_sgemm(const Product& p) {
  const Layout a = layout_of(p.a_strides, p.m, p.k), b = layout_of(p.b_strides, p.k, p.n);
  const auto status = dnnl_sgemm(a.order, b.order, p.m, p.n, p.k, 1, static_cast<const float*>(p.a), a.stride,
                                 static_cast<const float*>(p.b), b.stride, 0, static_cast<float*>(p.c), p.n);
  dnnl::error::wrap_c_api(status, "sgemm");
}

void multiply_by_primitive(const Product& p, int threads) {
  thread_local dnnl::stream stream(engine());
  Plan& plan = plan_for(p, threads);
  // oneDNN's handles are not const, but a product only reads its operands.
  plan.a.set_data_handle(const_cast<void*>(p.a));
  plan.b.set_data_handle(const_cast<void*>(p.b));
  plan.c.set_data_handle(p.c);
  if (p.bias != nullptr) plan.bias.set_data_handle(const_cast<void*>(p.bias));
  plan.primitive.execute(stream, plan.arguments);
  stream.wait();
}

}  // namespace

void multiply(const Product& p) {
  const int64_t work = p.batch * p.m * p.n * p.k;
  const int64_t most = kHasTeams ? num_threads() : 1;
  const int threads = static_cast<int>(std::clamp<int64_t>(work / kWorkPerThread, 1, most));
  const ThreadScope scope(threads);
  try {
    if (p.dtype == DType::f32 && p.batch == 1 && p.bias == nullptr)
      multiply_by_sgemm(p);
    else
      multiply_by_primitive(p, threads);
  } catch (const dnnl::error& failure) {
    raise<Error>("[matmul] oneDNN failed for a batch of {} ({}, {}) x ({}, {}): {}", p.batch, p.m, p.k, p.k,
                 p.n, failure.what());
  }
}

}  // namespace heed::internal
