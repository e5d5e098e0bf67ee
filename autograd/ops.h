#pragma once

/// Every differentiable op.
#include <heed/autograd/ops/additive_score.h>
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/attention.h>
#include <heed/autograd/ops/bias_activation.h>
#include <heed/autograd/ops/cast.h>
#include <heed/autograd/ops/comparison.h>
#include <heed/autograd/ops/cross_entropy.h>
#include <heed/autograd/ops/dropout.h>
#include <heed/autograd/ops/embedding.h>
#include <heed/autograd/ops/extremes.h>
#include <heed/autograd/ops/gelu.h>
#include <heed/autograd/ops/gru_cell.h>
#include <heed/autograd/ops/index.h>
#include <heed/autograd/ops/join.h>
#include <heed/autograd/ops/layer_norm.h>
#include <heed/autograd/ops/logsumexp.h>
#include <heed/autograd/ops/masked_fill.h>
#include <heed/autograd/ops/matmul.h>
#include <heed/autograd/ops/reduce.h>
#include <heed/autograd/ops/rms_norm.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/autograd/ops/sort.h>
#include <heed/autograd/ops/unary.h>
#include <heed/autograd/ops/variance.h>
#include <heed/autograd/ops/views.h>
