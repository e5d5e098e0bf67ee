#include <heed/autograd/ops.h>

/// Variable's chaining methods: each is the free function of its name.
namespace heed {

Variable Variable::matmul(const Variable& other) const { return heed::matmul(*this, other); }
Variable Variable::pow(double exponent) const { return heed::pow(*this, exponent); }
Variable Variable::exp() const { return heed::exp(*this); }
Variable Variable::log() const { return heed::log(*this); }
Variable Variable::sqrt() const { return heed::sqrt(*this); }
Variable Variable::tanh() const { return heed::tanh(*this); }
Variable Variable::sigmoid() const { return heed::sigmoid(*this); }
Variable Variable::relu() const { return heed::relu(*this); }
Variable Variable::sum(const Dims& axes, bool keep_axes) const { return heed::sum(*this, axes, keep_axes); }
Variable Variable::mean(const Dims& axes, bool keep_axes) const { return heed::mean(*this, axes, keep_axes); }
Variable Variable::softmax(int64_t axis) const { return heed::softmax(*this, axis); }
Variable Variable::reshape(const Shape& shape) const { return heed::reshape(*this, shape); }
Variable Variable::transpose(int64_t a, int64_t b) const { return heed::transpose(*this, a, b); }
Variable Variable::permute(std::initializer_list<int64_t> axes) const {
  return heed::permute(*this, std::span(axes.begin(), axes.size()));
}
Variable Variable::expand(const Shape& shape) const { return heed::expand(*this, shape); }
Variable Variable::slice(int64_t axis, int64_t begin, int64_t end, int64_t step) const {
  return heed::slice(*this, axis, begin, end, step);
}
Variable Variable::select(int64_t axis, int64_t index) const { return heed::select(*this, axis, index); }
Variable Variable::squeeze(int64_t axis) const { return heed::squeeze(*this, axis); }
Variable Variable::unsqueeze(int64_t axis) const { return heed::unsqueeze(*this, axis); }
Variable Variable::to(DType dtype) const { return heed::cast(*this, dtype); }

}  // namespace heed
