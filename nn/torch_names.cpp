#include <heed/nn/torch_names.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include <heed/nn/recurrent.h>
#include <heed/nn/transformer.h>
#include <heed/tensor/compare.h>

namespace heed::nn {
namespace {

using State = std::map<std::string, Tensor>;

/// How a name begins here and there.
struct Rename {
  std::string_view ours, theirs;
};

constexpr Rename kEncoderLayer[]{{"self_attention.", "self_attn."},
                                 {"self_attention_residual.norm.", "norm1."},
                                 {"feed_forward.inner.", "linear1."},
                                 {"feed_forward.outer.", "linear2."},
                                 {"feed_forward_residual.norm.", "norm2."}};
constexpr Rename kDecoderLayer[]{
    {"self_attention.", "self_attn."},        {"self_attention_residual.norm.", "norm1."},
    {"cross_attention.", "multihead_attn."},  {"cross_attention_residual.norm.", "norm2."},
    {"feed_forward.inner.", "linear1."},      {"feed_forward.outer.", "linear2."},
    {"feed_forward_residual.norm.", "norm3."}};
constexpr Rename kPackedAttention[]{
    {"q_proj.", "in_proj_"}, {"k_proj.", "in_proj_"}, {"v_proj.", "in_proj_"}};
constexpr Rename kSeparateAttention[]{{"q_proj.bias", "in_proj_bias"},    {"k_proj.bias", "in_proj_bias"},
                                      {"v_proj.bias", "in_proj_bias"},    {"q_proj.weight", "q_proj_weight"},
                                      {"k_proj.weight", "k_proj_weight"}, {"v_proj.weight", "v_proj_weight"}};

std::string renamed(const std::string& name, std::span<const Rename> renames) {
  for (const auto& [ours, theirs] : renames)
    if (name.starts_with(ours)) return std::string(theirs) + name.substr(ours.size());
  return name;
}

/// PyTorch packs the three matrices unless keys or values have a width of their own.
std::string attention_name(const MultiHeadAttention& attention, const std::string& name) {
  const State state = attention.state_dict();
  const auto shape = [&](const char* matrix) { return state.at(matrix).shape(); };
  const bool is_packed =
      shape("k_proj.weight") == shape("q_proj.weight") && shape("v_proj.weight") == shape("q_proj.weight");
  return is_packed ? renamed(name, kPackedAttention) : renamed(name, kSeparateAttention);
}

/// layers.0.weight_ih -> weight_ih_l0, reverse_layers.0.weight_ih -> weight_ih_l0_reverse
std::string recurrent_name(const std::string& name) {
  const auto first = name.find('.'), last = name.rfind('.');
  if (first == last) return name;
  return fmt::format("{}_l{}{}", name.substr(last + 1), name.substr(first + 1, last - first - 1),
                     name.starts_with("reverse_") ? "_reverse" : "");
}

template <class... Types>
bool is_one_of(const Module& module) {
  return (... || (dynamic_cast<const Types*>(&module) != nullptr));
}

/// PyTorch's name of a parameter below a module, by its name there in which all modules further down have
/// already been renamed.
std::string name_below(const Module& module, const std::string& name) {
  if (const auto* attention = dynamic_cast<const MultiHeadAttention*>(&module))
    return attention_name(*attention, name);
  if (is_one_of<TransformerEncoderLayer>(module)) return renamed(name, kEncoderLayer);
  if (is_one_of<TransformerDecoderLayer>(module)) return renamed(name, kDecoderLayer);
  if (is_one_of<GRU, RNN, LSTM>(module)) return recurrent_name(name);
  return name;
}

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// A parameter's name in PyTorch: each module around it has its word, from the innermost to the outermost.
std::string torch_name(const std::map<std::string, Module*>& modules, std::string name) {
  for (size_t end = name.size(); end > 0;) {
    const size_t dot = name.rfind('.', end - 1);
    end = dot == std::string::npos ? 0 : dot;
    const std::string prefix = name.substr(0, end), below = name.substr(end == 0 ? 0 : end + 1);
    const auto module = modules.find(prefix);
    if (module != modules.end()) name = joined(prefix, name_below(*module->second, below));
  }
  return name;
}

/// Our tensors that make up one of PyTorch's: several where it packs them, one below the other.
using Parts = std::vector<Tensor>;

/// By PyTorch's names; a parameter that is tied, or of a module that is used in several places, under each of
/// its own.
std::map<std::string, Parts> parts_by_torch_name(Module& module) {
  const auto list = module.named_uses();
  const std::map<std::string, Module*> modules(list.begin(), list.end());
  State rest = module.state_dict();  // in the end the buffers
  std::map<std::string, Parts> parts;
  for (const auto& [prefix, part] : list)
    for (const auto& [own_name, parameter] : part->own_parameters()) {
      const std::string name = joined(prefix, own_name);
      if (parameter.defined()) parts[torch_name(modules, name)].push_back(parameter.data());
      rest.erase(name);
    }
  for (const auto& [name, buffer] : rest) parts[torch_name(modules, name)].push_back(buffer);
  return parts;
}

Shape packed_shape(const Parts& parts) {
  Shape shape = parts[0].shape();
  for (size_t i = 1; i < parts.size(); ++i) shape[0] += parts[i].size(0);
  return shape;
}

bool fits(const Tensor& given, const Parts& parts) {
  return given.defined() && given.shape() == packed_shape(parts) && given.dtype() == parts[0].dtype();
}

/// A part of ours, and what it is to become.
struct Copy {
  Tensor own, given;
  std::string torch_name;
};

bool is_same_part(const Tensor& a, const Tensor& b) { return a.shares_memory(b) && a.offset() == b.offset(); }

void append_copies(std::vector<Copy>& copies, const std::string& name, const Parts& parts,
                   const Tensor& given) {
  int64_t row = 0;
  for (const Tensor& own : parts) {
    const bool is_whole = parts.size() == 1;
    const Tensor numbers = is_whole ? given : given.slice(0, row, row + own.size(0));
    if (!is_whole) row += own.size(0);
    for (const Copy& other : copies)
      if (is_same_part(other.own, own) && !identical(other.given, numbers))
        raise<ValueError>("[load_torch_state_dict] {} and {} are one parameter here and differ in the state",
                          other.torch_name, name);
    copies.push_back({own, numbers, name});
  }
}

bool are_filled(const std::vector<Copy>& copies, const Parts& parts) {
  return std::ranges::all_of(parts, [&](const Tensor& own) {
    return std::ranges::any_of(copies, [&](const Copy& copy) { return is_same_part(copy.own, own); });
  });
}

}  // namespace

StateMismatch load_torch_state_dict(Module& module, const State& state, bool strict) {
  const auto wanted = parts_by_torch_name(module);
  StateMismatch mismatch;
  std::vector<Copy> copies;
  for (const auto& [name, given] : state) {
    const auto found = wanted.find(name);
    if (found == wanted.end())
      mismatch.unexpected.push_back(name);
    else if (fits(given, found->second))
      append_copies(copies, name, found->second, given);
    else
      mismatch.wrong_shape.push_back(fmt::format("{} wanted {}{}, came {}", name,
                                                 name_of(found->second[0].dtype()),
                                                 packed_shape(found->second), heed::describe(given)));
  }
  for (const auto& [name, parts] : wanted)
    if (!state.contains(name) && !are_filled(copies, parts)) mismatch.missing.push_back(name);
  if (strict && !mismatch.empty()) raise<ValueError>("[load_torch_state_dict] {}", mismatch.describe());
  for (auto& [own, given, name] : copies) own.copy_from(given);
  return mismatch;
}

}  // namespace heed::nn
