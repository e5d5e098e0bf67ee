#pragma once

#include <heed/autograd/variable.h>
#include <heed/tensor/kernels/gelu.h>

namespace heed {

using kernels::GeluForm;

/// The Gaussian error linear unit, element by element: x Phi(x) with Phi the normal distribution, or the tanh
/// form, which is within 5e-4 of it.
Variable gelu(const Variable& x, GeluForm form = GeluForm::exact);

}  // namespace heed
