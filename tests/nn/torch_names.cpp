#include <heed/nn/torch_names.h>

#include <heed/autograd/ops.h>
#include <heed/nn/embedding.h>
#include <heed/nn/recurrent.h>
#include <heed/nn/transformer.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;
using nn::Mask;

namespace {

StateDict in(DType dtype, const StateDict& state) {
  StateDict result;
  for (const auto& [name, x] : state) result.emplace(name, x.to(dtype));
  return result;
}

Variables leaves_in(DType dtype, const std::vector<Tensor>& tensors) {
  Variables result;
  for (const Tensor& x : tensors) result.emplace_back(x.to(dtype), true);
  return result;
}

/// What PyTorch computes with its weights must be what a module computes with them: outputs in f32, and in
/// f64, where no rounding hides a difference, outputs and all gradients. These have PyTorch's names as well,
/// so a second module takes them for its weights. run(module, inputs, args) gives the outputs.
template <class Module, class Options, class Run>
void expect_like_torch(const std::string& name, const Options& options, Run&& run) {
  const LayerFixture fixture = load_fixture("torch.safetensors", name);
  for (const auto& [dtype, tolerance] : {std::pair(DType::f32, kF32), std::pair(DType::f64, kF64)}) {
    Module module(options), gradients(options);
    module.to(dtype), gradients.to(dtype);
    nn::load_torch_state_dict(module, in(dtype, fixture.state));
    nn::load_torch_state_dict(gradients, in(dtype, fixture.state_grads));
    const Variables inputs = leaves_in(dtype, fixture.inputs), outputs = run(module, inputs, fixture.args);
    ASSERT_EQ(outputs.size(), fixture.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(close(outputs[i].data(), fixture.outputs[i], tolerance)) << name << ", output " << i;
      outputs[i].backward(fixture.upstreams[i].to(dtype), {.retain_graph = true});
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_TRUE(close(inputs[i].grad().data(), fixture.grads[i], tolerance))
          << name << ", gradient of input " << i;
    if (dtype != DType::f64) continue;
    const auto wanted = gradients.state_dict();
    for (const auto& [parameter, value] : module.named_parameters())
      EXPECT_TRUE(close(value.grad().data(), wanted.at(parameter), tolerance)) << name << ", " << parameter;
  }
}

nn::TransformerOptions transformer(nn::NormPlace norm, ActivationKind activation) {
  return {.width = 8, .feed_forward = 12, .heads = 4, .layers = 2, .norm = norm, .activation = activation};
}

const auto kEncode = [](auto& module, const Variables& in, const auto& args) {
  return Variables{module(in[0], Mask::valid_lengths(args[0]))};
};
const auto kDecode = [](auto& module, const Variables& in, const auto& args) {
  return Variables{module(in[0], in[1], Mask::valid_lengths(args[0]))};
};

// States (layers * directions, batch, hidden) in PyTorch, and a vector of them here.
const auto kRecur = [](auto& module, const Variables& in, const auto& args) {
  auto [output, state] = module(in[0], args.empty() ? Tensor() : args[0], unstack(in[1], 0));
  return Variables{output, stack(state, 0)};
};
const auto kRecurWithMemory = [](auto& module, const Variables& in, const auto& args) {
  const Variables h = unstack(in[1], 0), c = unstack(in[2], 0);
  nn::LSTM::State first;
  for (size_t i = 0; i < h.size(); ++i) first.push_back({h[i], c[i]});
  const auto result = module(in[0], args.empty() ? Tensor() : args[0], first);
  Variables last_h, last_c;
  for (const nn::LSTMState& state : result.state) last_h.push_back(state.h), last_c.push_back(state.c);
  return Variables{result.output, stack(last_h, 0), stack(last_c, 0)};
};

Variables with_weights(nn::MultiHeadAttention& attention, const Variable& q, const Variable& k,
                       const Variable& v, const Mask& mask) {
  const auto attended = attention.attend_with_weights(q, attention.project(k, v), mask);
  return {attended.output, attended.weights};
}

/// A model of one's own, whose members are called as in PyTorch.
class Tagger : public nn::Layer<Tagger> {
 public:
  Tagger() : encoder_(encoder_options()) {
    child("embedding", embedding_);
    child("encoder", encoder_);
    child("reader", reader_);
    child("output", output_);
  }
  Variable forward(const Tensor& words, const Tensor& lengths) {
    const Variable encoded = encoder_(embedding_(words), Mask::valid_lengths(lengths));
    return output_(reader_(encoded, lengths).output);
  }

 private:
  static nn::TransformerOptions encoder_options() {
    nn::TransformerOptions options = transformer(nn::NormPlace::post, ActivationKind::relu);
    options.final_norm = false;
    return options;
  }

  nn::Embedding embedding_{{.rows = 7, .width = 8}};
  nn::TransformerEncoder encoder_;
  nn::GRU reader_{{.inputs = 8, .hidden = 3, .bidirectional = true}};
  nn::Linear output_{{.inputs = 6, .outputs = 5}};
};

/// One matrix under two names.
class Tied : public nn::Module {
 public:
  Tied() {
    child("embedding", embedding_);
    parameter("output", embedding_.weight());
  }

 private:
  nn::Embedding embedding_{{.rows = 3, .width = 2}};
};

/// One attention in two places.
class UsedTwice : public nn::Module {
 public:
  UsedTwice() {
    child("first", attention_);
    child("second", attention_);
  }

 private:
  nn::MultiHeadAttention attention_{{.width = 4, .heads = 2}};
};

StateDict attention_state() {
  return {{"in_proj_weight", random_tensor({12, 4}, 1)},
          {"in_proj_bias", random_tensor({12}, 2)},
          {"out_proj.weight", random_tensor({4, 4}, 3)},
          {"out_proj.bias", random_tensor({4}, 4)}};
}

}  // namespace

TEST(TorchNames, plain_layers_have_the_names_they_have) {
  const auto call = [](auto& module, const Variables& in, const auto&) { return Variables{module(in[0])}; };
  expect_like_torch<nn::Linear>("linear", nn::LinearOptions{.inputs = 5, .outputs = 3}, call);
  expect_like_torch<nn::LayerNorm>("layer_norm", nn::LayerNormOptions{.width = 6}, call);
  expect_like_torch<nn::Embedding>(
      "embedding", nn::EmbeddingOptions{.rows = 7, .width = 3},
      [](auto& module, const Variables&, const auto& args) { return Variables{module(args[0])}; });
}

TEST(TorchNames, attention_has_one_matrix_for_queries_keys_and_values) {
  const nn::MultiHeadAttentionOptions options{.width = 8, .heads = 4};
  expect_like_torch<nn::MultiHeadAttention>(
      "attention_self", options, [](auto& attention, const Variables& in, const auto& args) {
        return with_weights(attention, in[0], in[0], in[0],
                            Mask::valid_lengths(args[0]) & Mask::causal_order());
      });
  expect_like_torch<nn::MultiHeadAttention>(
      "attention_cross", options, [](auto& attention, const Variables& in, const auto& args) {
        return with_weights(attention, in[0], in[1], in[2], Mask::valid_lengths(args[0]));
      });
}

TEST(TorchNames, attention_without_biases_under_a_mask_that_is_added) {
  expect_like_torch<nn::MultiHeadAttention>(
      "attention_added", nn::MultiHeadAttentionOptions{.width = 8, .heads = 4, .bias = false},
      [](auto& attention, const Variables& in, const auto& args) {
        return with_weights(attention, in[0], in[0], in[0], Mask::additive(args[0].to(in[0].dtype())));
      });
}

TEST(TorchNames, attention_to_keys_and_values_of_other_widths_has_three_matrices) {
  expect_like_torch<nn::MultiHeadAttention>(
      "attention_widths",
      nn::MultiHeadAttentionOptions{.width = 8, .heads = 4, .key_width = 5, .value_width = 6},
      [](auto& attention, const Variables& in, const auto& args) {
        return with_weights(attention, in[0], in[1], in[2], Mask::valid_lengths(args[0]));
      });
}

TEST(TorchNames, transformer_layers_in_all_forms) {
  using enum nn::NormPlace;
  using enum ActivationKind;
  for (const auto& [form, options] :
       {std::pair("post_relu", transformer(post, relu)), std::pair("post_gelu", transformer(post, gelu)),
        std::pair("pre_relu", transformer(pre, relu)), std::pair("pre_gelu", transformer(pre, gelu))}) {
    expect_like_torch<nn::TransformerEncoderLayer>(fmt::format("encoder_layer_{}", form), options, kEncode);
    expect_like_torch<nn::TransformerDecoderLayer>(fmt::format("decoder_layer_{}", form), options, kDecode);
  }
}

TEST(TorchNames, transformer_stacks_with_and_without_a_last_norm) {
  nn::TransformerOptions options = transformer(nn::NormPlace::pre, ActivationKind::gelu);
  expect_like_torch<nn::TransformerEncoder>("encoder", options, kEncode);
  expect_like_torch<nn::TransformerDecoder>("decoder", options, kDecode);
  options.final_norm = false;
  expect_like_torch<nn::TransformerEncoder>("encoder_without_norm", options, kEncode);
  expect_like_torch<nn::TransformerDecoder>("decoder_without_norm", options, kDecode);
}

TEST(TorchNames, recurrent_layers_in_both_directions) {
  const nn::RecurrentOptions options{.inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true};
  expect_like_torch<nn::GRU>("gru", options, kRecur);
  expect_like_torch<nn::RNN>(
      "rnn", nn::RNNOptions{.inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true}, kRecur);
  expect_like_torch<nn::LSTM>("lstm", options, kRecurWithMemory);
}

TEST(TorchNames, recurrent_layers_without_biases) {
  const nn::RecurrentOptions options{
      .inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true, .bias = false};
  expect_like_torch<nn::GRU>("gru_without_bias", options, kRecur);
  expect_like_torch<nn::RNN>(
      "rnn_without_bias",
      nn::RNNOptions{.inputs = 4, .hidden = 3, .layers = 2, .bidirectional = true, .bias = false}, kRecur);
  expect_like_torch<nn::LSTM>("lstm_without_bias",
                              nn::RecurrentOptions{.inputs = 4, .hidden = 3, .layers = 2, .bias = false},
                              kRecurWithMemory);
}

TEST(TorchNames, a_model_of_ones_own_loads_whole_from_a_file) {
  const LayerFixture fixture = load_fixture("torch.safetensors", "tagger");
  const TempDir folder;
  const std::string path = folder.file("tagger.safetensors");
  save_safetensors(path, fixture.state);
  Tagger tagger, gradients;
  tagger.to(DType::f64), gradients.to(DType::f64);
  nn::load_torch_state_dict(tagger, load_safetensors(path).tensors);
  nn::load_torch_state_dict(gradients, fixture.state_grads);
  const Variable logits = tagger(fixture.args[0], fixture.args[1]);
  EXPECT_TRUE(close(logits.data(), fixture.outputs[0], kF64));
  logits.backward(fixture.upstreams[0]);
  const auto wanted = gradients.state_dict();
  for (const auto& [name, parameter] : tagger.named_parameters())
    EXPECT_TRUE(close(parameter.grad().data(), wanted.at(name), kF64)) << name;

  // From here on it is a checkpoint like any other.
  Tagger again;
  again.to(DType::f64);
  save_safetensors(path, tagger.state_dict());
  again.load_state_dict(load_safetensors(path).tensors);
  EXPECT_TRUE(identical(again(fixture.args[0], fixture.args[1]).data(), logits.data()));
}

TEST(TorchNames, the_numbers_are_copied) {
  nn::MultiHeadAttention attention({.width = 4, .heads = 2});
  StateDict state = attention_state();
  nn::load_torch_state_dict(attention, state);
  const StateDict loaded = attention.state_dict();
  EXPECT_TRUE(identical(loaded.at("k_proj.weight"), state.at("in_proj_weight").slice(0, 4, 8).clone()));
  EXPECT_TRUE(identical(loaded.at("v_proj.bias"), state.at("in_proj_bias").slice(0, 8, 12).clone()));
  state.at("in_proj_weight").fill(0);
  EXPECT_FALSE(identical(loaded.at("k_proj.weight"), zeros({4, 4})));
}

TEST(TorchNames, a_tied_parameter_needs_one_of_its_names) {
  const Tensor table = random_tensor({3, 2});
  for (const StateDict& state : {StateDict{{"embedding.weight", table}}, StateDict{{"output", table}},
                                 StateDict{{"embedding.weight", table}, {"output", table.clone()}}}) {
    Tied tied;
    nn::load_torch_state_dict(tied, state);
    EXPECT_TRUE(identical(tied.state_dict().at("output"), table));
  }
  Tied tied;
  expect_error<ValueError>(
      [&] {
        nn::load_torch_state_dict(tied, {{"embedding.weight", table}, {"output", zeros({3, 2})}}, false);
      },
      "[load_torch_state_dict] embedding.weight and output are one parameter here and differ in the state");
}

TEST(TorchNames, a_module_that_is_used_twice_needs_one_of_its_names) {
  StateDict both;
  for (const char* use : {"first.", "second."})
    for (const auto& [name, numbers] : attention_state()) both.emplace(use + name, numbers);
  StateDict first = both;
  std::erase_if(first, [](const auto& entry) { return entry.first.starts_with("second."); });
  for (const StateDict& state : {both, first}) {
    UsedTwice module;
    nn::load_torch_state_dict(module, state);
    EXPECT_TRUE(identical(module.state_dict().at("first.q_proj.weight"),
                          both.at("first.in_proj_weight").slice(0, 0, 4).clone()));
  }
  both.at("second.out_proj.bias") = zeros({4});
  UsedTwice module;
  expect_error<ValueError>(
      [&] { nn::load_torch_state_dict(module, both); },
      "[load_torch_state_dict] first.out_proj.bias and second.out_proj.bias are one parameter here");
}

TEST(TorchNames, a_strict_load_lists_all_differences_by_their_names_there_and_changes_nothing) {
  nn::MultiHeadAttention attention({.width = 4, .heads = 2});
  std::map<std::string, Tensor> before;
  for (const auto& [name, value] : attention.state_dict()) before.emplace(name, value.clone());
  StateDict state = attention_state();
  state.at("in_proj_weight") = random_tensor({4, 12});
  state.at("out_proj.weight") = zeros({4, 4}, DType::f64);
  state.erase("in_proj_bias");
  state.emplace("bias_k", zeros({1, 1, 4}));
  expect_error<ValueError>([&] { nn::load_torch_state_dict(attention, state); },
                           "[load_torch_state_dict] missing: in_proj_bias; unexpected: bias_k; wrong shape: "
                           "in_proj_weight wanted f32(12, 4), came f32(4, 12), out_proj.weight wanted "
                           "f32(4, 4), came f64(4, 4)");
  EXPECT_TRUE(same_numbers(attention.state_dict(), before));

  const auto mismatch = nn::load_torch_state_dict(attention, state, false);
  EXPECT_EQ(mismatch.missing, std::vector<std::string>{"in_proj_bias"});
  EXPECT_EQ(mismatch.unexpected, std::vector<std::string>{"bias_k"});
  EXPECT_EQ(mismatch.wrong_shape.size(), 2);
  before.at("out_proj.bias") = state.at("out_proj.bias");
  EXPECT_TRUE(same_numbers(attention.state_dict(), before));
}

TEST(TorchNames, what_a_stack_lacks_is_named) {
  nn::TransformerEncoder encoder(transformer(nn::NormPlace::post, ActivationKind::relu));
  const StateDict without_norm = all_f32(load_fixture("torch.safetensors", "encoder_without_norm").state);
  expect_error<ValueError>([&] { nn::load_torch_state_dict(encoder, without_norm); },
                           "[load_torch_state_dict] missing: norm.bias, norm.weight");
  nn::GRU gru({.inputs = 4, .hidden = 3, .layers = 2});
  expect_error<ValueError>(
      [&] { nn::load_torch_state_dict(gru, all_f32(load_fixture("torch.safetensors", "gru").state)); },
      "unexpected: bias_hh_l0_reverse, bias_hh_l1_reverse");
  expect_error<ValueError>(
      [&] {
        nn::load_torch_state_dict(gru, {{"weight_ih_l0", Tensor()}});
      },
      "weight_ih_l0 wanted f32(9, 4), came");
}
