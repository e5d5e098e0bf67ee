#pragma once

#include <functional>
#include <span>
#include <vector>

#include <heed/autograd/variable.h>

/// Activation checkpointing (Chen, Xu, Zhang, Guestrin 2016): memory for time.
namespace heed {

using CheckpointFunction = std::function<std::vector<Variable>(std::span<const Variable>)>;

/// f(inputs), of which only the inputs are kept until the backward pass, and none of the values in between: f
/// runs once more there. Gradients go to the inputs and to all else that f uses, as the parameters of a layer
/// that it calls, in backward() and in grad(...), and second derivatives too. The gradient of one value from
/// several places inside of f is added up before it meets those from outside, which may round differently;
/// otherwise the numbers are those without checkpointing, bit for bit.
///
/// The second run finds this thread's default generator, the scope and the recording as the first did, so
/// dropout drops the same. Other state that f changes or uses must be the same by itself: results that differ
/// from those of the first run are a GraphError, as is an input that was edited in between. f must hold what
/// it uses until then, and must not take gradients itself. Hooks that it registers run once, on the second
/// run's graph.
std::vector<Variable> checkpoint(CheckpointFunction f, std::span<const Variable> inputs);
/// The same for one input and one result.
Variable checkpoint(std::function<Variable(const Variable&)> f, const Variable& input);

/// True inside of a checkpointed function that runs the second time: for whatever should happen once.
bool recomputing();

}  // namespace heed
