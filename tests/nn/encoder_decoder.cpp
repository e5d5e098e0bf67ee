#include <heed/nn/encoder_decoder.h>

#include <heed/autograd/grad_mode.h>
#include <heed/autograd/ops/join.h>
#include <heed/nn/bahdanau.h>
#include <heed/nn/loss.h>
#include <heed/nn/transformer_model.h>
#include <heed/tensor/kernels/extremes.h>
#include <heed/tensor/kernels/index.h>

#include "tests/nn/helpers.h"

using namespace heed;
using namespace heed::test;

namespace {

constexpr int64_t kSourceWords = 9, kTargetWords = 7, kPadding = 1;

nn::TransformerModelOptions transformer_options(nn::PositionKind position, double dropout = 0) {
  return {.source_vocabulary = kSourceWords,
          .target_vocabulary = kTargetWords,
          .stack = {.width = 8, .feed_forward = 12, .heads = 4, .layers = 2, .dropout = dropout},
          .position = position,
          .max_length = 6};
}

/// One of the models, by a name that the tests show.
struct Kind {
  std::string name;
  std::function<std::unique_ptr<nn::EncoderDecoder>(double dropout)> make;
};

Kind transformer(const std::string& name, nn::PositionKind position, const nn::ScoreChoice& score = {}) {
  return {name, [=](double dropout) {
            nn::TransformerModelOptions options = transformer_options(position, dropout);
            options.stack.score = score;
            return std::make_unique<nn::TransformerModel>(options);
          }};
}

Kind bahdanau(const std::string& name, const nn::BahdanauOptions& kind = {}) {
  return {name, [=](double dropout) {
            nn::BahdanauOptions options = kind;
            options.source_vocabulary = kSourceWords;
            options.target_vocabulary = kTargetWords;
            options.width = 4;
            options.layers = 2;
            options.dropout = dropout;
            return std::make_unique<nn::Bahdanau>(options);
          }};
}

const Kind kBahdanau = bahdanau("bahdanau");
const Kind kAttentive = bahdanau("bahdanau_attentive", {.attentive = true});

void PrintTo(const Kind& kind, std::ostream* stream) { *stream << kind.name; }

class EncoderDecoder : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<nn::EncoderDecoder> make(double dropout = 0) const { return GetParam().make(dropout); }
  bool is_recurrent() const { return GetParam().name.starts_with("bahdanau"); }

  const Tensor source_ = ids({{3, 4, 5, 8}, {6, 7, 0, 0}, {2, 2, 4, 0}}), lengths_ = ids({4, 2, 3});
  const Tensor target_ = ids({{2, 4, 5, 6, 3}, {2, 6, 6, 3, 1}, {2, 5, 3, 1, 1}});
};

INSTANTIATE_TEST_SUITE_P(Model, EncoderDecoder,
                         testing::Values(kBahdanau, bahdanau("bahdanau_dot", {.score = nn::ScoreKind::dot}),
                                         bahdanau("bahdanau_attentive_dot",
                                                  {.score = nn::ScoreKind::dot, .attentive = true}),
                                         kAttentive, transformer("sinusoidal", nn::PositionKind::sinusoidal),
                                         transformer("learned", nn::PositionKind::learned),
                                         transformer("rotary", nn::PositionKind::rotary),
                                         transformer("unplaced", nn::PositionKind::none),
                                         transformer("additive", nn::PositionKind::sinusoidal,
                                                     nn::each_head<nn::AdditiveScore>({.hidden = 3}))),
                         [](const auto& kind) { return kind.param.name; });

void expect_model_like_pytorch(nn::EncoderDecoder& model, const std::string& name) {
  expect_like_pytorch(model, name, [&](const Variables&, const std::vector<Tensor>& args) {
    const Variable logits = model(args[0], args[1], args[2]);
    return Variables{logits, nn::cross_entropy(logits, args[3], {.ignore_index = kPadding})};
  });
}

TEST(Bahdanau, logits_loss_and_gradients_match_pytorch) {
  for (const Kind& kind : {kBahdanau, kAttentive}) {
    const auto model = kind.make(0);
    expect_model_like_pytorch(*model, kind.name);
  }
}

TEST(Bahdanau, wants_an_even_width_to_read_both_ways) {
  expect_error<ValueError>(
      [] {
        nn::Bahdanau model({.source_vocabulary = 5, .target_vocabulary = 4, .width = 3, .attentive = true});
      },
      "[Bahdanau] wanted an even width to read both ways, came 3");
}

TEST(TransformerModel, logits_loss_and_gradients_match_pytorch) {
  nn::TransformerModel model(transformer_options(nn::PositionKind::sinusoidal));
  expect_model_like_pytorch(model, "transformer");
}

TEST_P(EncoderDecoder, one_step_at_a_time_equals_the_whole) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  ASSERT_EQ(whole.shape(), Shape({3, 5, kTargetWords}));
  const NoGrad guard;
  const auto decoding = model->start(source_, lengths_);
  for (int64_t t = 0; t < 5; ++t)
    EXPECT_TRUE(close(decoding->step(target_.select(1, t)).data(), whole.select(1, t), kF32)) << t;
}

TEST_P(EncoderDecoder, the_likeliest_words_step_by_step_are_those_of_whole_passes) {
  const auto model = make();
  const NoGrad guard;
  const auto decoding = model->start(source_, lengths_);
  Tensor words = ids({{2}, {2}, {2}});  // (batch, words so far)
  for (int64_t t = 0; t < 5; ++t) {
    const Tensor chosen = kernels::argmax(decoding->step(words.select(1, t)).data(), 1);
    const Tensor whole = (*model)(source_, lengths_, words).data().select(1, t);
    EXPECT_EQ(chosen.to_vector<int64_t>(), kernels::argmax(whole, 1).to_vector<int64_t>()) << t;
    words = concat({words, chosen.unsqueeze(1)}, 1).data();
  }
}

TEST_P(EncoderDecoder, two_decodings_do_not_disturb_each_other) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  const auto one = model->start(source_, lengths_), two = model->start(source_, lengths_);
  for (int64_t t = 0; t < 3; ++t) {
    EXPECT_TRUE(close(one->step(target_.select(1, t)).data(), whole.select(1, t), kF32)) << t;
    two->step(ids({6, 5, 4}));
  }
}

TEST_P(EncoderDecoder, tells_how_each_step_looked_and_changes_no_bit) {
  const auto model = make();
  const auto silent = model->start(source_, lengths_);
  const auto telling = model->start(source_, lengths_, {.attention = true});
  for (int64_t t = 0; t < 4; ++t) {
    const Tensor words = target_.select(1, t);
    EXPECT_TRUE(identical(telling->step(words).data(), silent->step(words).data())) << t;
    const std::vector<Tensor> weights = telling->attention();
    ASSERT_EQ(weights.size(), is_recurrent() ? 1 : 2);
    for (const Tensor& layer : weights) {
      ASSERT_EQ(layer.shape(), Shape({3, is_recurrent() ? 1 : 4, 4}));
      EXPECT_TRUE(close(kernels::sum(layer, {2}), ones({3, layer.size(1)}), kF32));
      for (int64_t b = 0; b < 3; ++b)
        for (auto j = static_cast<int64_t>(lengths_.at({b})); j < 4; ++j)
          EXPECT_EQ(layer.at({b, 0, j}), 0) << b << ", " << j;
    }
  }
}

TEST_P(EncoderDecoder, has_no_weights_to_tell_unless_asked_and_stepped) {
  const auto model = make();
  const auto silent = model->start(source_, lengths_);
  silent->step(ids({2, 2, 2}));
  expect_error<ValueError>([&] { silent->attention(); }, "[Decoding::attention]");
  const auto telling = model->start(source_, lengths_, {.attention = true});
  expect_error<ValueError>([&] { telling->attention(); }, "[Decoding::attention]");
}

TEST_P(EncoderDecoder, goes_on_with_the_rows_that_are_selected) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  const auto decoding = model->start(source_, lengths_, {.attention = true});
  const std::vector<std::vector<int64_t>> plans{{2, 0, 0, 1}, {1, 3, 0}, {0}, {0, 0}};
  std::vector<int64_t> rows{0, 1, 2};  // what each row of the decoding is a row of
  for (size_t plan = 0; plan <= plans.size(); ++plan) {
    const auto t = static_cast<int64_t>(plan);
    const Tensor picked = from_values<int64_t>(rows, {static_cast<int64_t>(rows.size())});
    const Tensor words = kernels::index_select(target_, 0, picked).select(1, t);
    const Tensor wanted = kernels::index_select(whole, 0, picked).select(1, t);
    EXPECT_TRUE(close(decoding->step(words).data(), wanted, kF32)) << t;
    EXPECT_EQ(decoding->attention().front().size(0), static_cast<int64_t>(rows.size()));
    if (plan == plans.size()) break;
    decoding->select(from_values<int64_t>(plans[plan], {static_cast<int64_t>(plans[plan].size())}));
    std::vector<int64_t> next;
    for (const int64_t place : plans[plan]) next.push_back(rows[static_cast<size_t>(place)]);
    rows = next;
  }
}

TEST_P(EncoderDecoder, rows_can_be_selected_before_the_first_step) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  const auto decoding = model->start(source_, lengths_);
  decoding->select(ids({1, 1}));
  const Tensor wanted = kernels::index_select(whole, 0, ids({1, 1})).select(1, 0);
  EXPECT_TRUE(close(decoding->step(ids({2, 2})).data(), wanted, kF32));
}

TEST_P(EncoderDecoder, no_row_and_a_row_that_is_not_there) {
  const auto model = make();
  const auto decoding = model->start(source_, lengths_);
  decoding->step(ids({2, 2, 2}));
  expect_error<IndexError>([&] { decoding->select(ids({0, 3})); }, "3");
  const Tensor nothing = zeros({0}, DType::i64);
  decoding->select(nothing);
  EXPECT_EQ(decoding->step(nothing).shape(), Shape({0, kTargetWords}));
}

TEST_P(EncoderDecoder, looks_at_no_later_word) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  for (int64_t t = 1; t < 5; ++t) {
    const Tensor changed = (*model)(source_, lengths_, filled(target_, 1, t, 5, 0)).data();
    EXPECT_TRUE(identical(changed.slice(1, 0, t).clone(), whole.slice(1, 0, t).clone())) << t;
    EXPECT_FALSE(close(changed.select(1, t), whole.select(1, t), {.absolute = 1e-4})) << t;
  }
}

TEST_P(EncoderDecoder, padding_and_neighbours_change_nothing) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  for (int64_t b = 0; b < 3; ++b) {
    const auto length = static_cast<int64_t>(lengths_.at({b}));
    const Tensor wanted = whole.slice(0, b, b + 1).clone(), target = target_.slice(0, b, b + 1);
    Tensor other = source_.clone();
    for (int64_t n = 0; n < 3; ++n) other.select(0, n).slice(0, n == b ? length : 0, 4).fill(1);
    const Tensor beside = (*model)(other, lengths_, target_).data();
    EXPECT_TRUE(identical(beside.slice(0, b, b + 1).clone(), wanted)) << b;
    const Tensor alone = source_.slice(0, b, b + 1).slice(1, 0, length);
    EXPECT_TRUE(
        close((*model)(alone, lengths_.slice(0, b, b + 1), target).data(), wanted, {.absolute = 1e-6}))
        << b;
  }
}

TEST_P(EncoderDecoder, its_source_and_its_order_count) {
  const auto model = make();
  const Tensor whole = (*model)(source_, lengths_, target_).data();
  const Tensor reversed = reordered(source_, 1, {3, 2, 1, 0});
  const Tensor changed = (*model)(reversed, ids({4, 4, 4}), target_).data();
  const bool same = bool(close(changed.select(0, 0), whole.select(0, 0), {.absolute = 1e-5}));
  EXPECT_EQ(same, GetParam().name == "unplaced");  // without places a Transformer reads a bag of words
}

TEST_P(EncoderDecoder, a_source_without_words_keeps_everything_finite) {
  const auto model = make();
  const Variable logits = (*model)(source_, ids({4, 0, 3}), target_);
  EXPECT_TRUE(kernels::all_finite(logits.data()));
  nn::cross_entropy(logits, target_).backward();
  expect_finite_grads(*model);
}

TEST_P(EncoderDecoder, logits_of_some_places_are_those_of_all) {
  const auto model = make();
  const Tensor targets = ids({{4, 5, 6, 3, 1}, {6, 6, 3, 1, 1}, {5, 3, 1, 1, 1}});
  const Tensor places = ids({0, 1, 2, 3, 5, 6, 7, 10, 11});  // all but padding
  const Tensor words = kernels::index_select(targets.reshape({15}), 0, places);
  const Variable some = (*model)(source_, lengths_, target_, places);
  const Variable all = (*model)(source_, lengths_, target_);
  const Tensor rows = all.data().reshape({15, kTargetWords});
  EXPECT_TRUE(close(some.data(), kernels::index_select(rows, 0, places), kF32));
  nn::cross_entropy(some, words).backward();
  StateDict grads;
  for (auto& [name, parameter] : model->named_parameters()) {
    grads.emplace(name, parameter.grad().data());
    parameter.zero_grad();
  }
  nn::cross_entropy(all, targets, {.ignore_index = kPadding}).backward();
  expect_parameter_grads(*model, grads);
  expect_error<IndexError>([&] { (*model)(source_, lengths_, target_, ids({15})); }, "15");
}

TEST_P(EncoderDecoder, has_no_logits_for_no_words) {
  const auto model = make();
  EXPECT_EQ((*model)(source_, lengths_, zeros({3, 0}, DType::i64)).shape(), Shape({3, 0, kTargetWords}));
  EXPECT_EQ((*model)(source_, lengths_, target_, zeros({0}, DType::i64)).shape(), Shape({0, kTargetWords}));
  const Tensor nothing = zeros({3, 0}, DType::i64);
  const Tensor logits = (*model)(nothing, ids({0, 0, 0}), target_).data();
  EXPECT_EQ(logits.shape(), Shape({3, 5, kTargetWords}));
  EXPECT_TRUE(kernels::all_finite(logits));
}

TEST_P(EncoderDecoder, dropout_is_off_in_evaluation) {
  const auto with = make(0.5), without = make();
  without->load_state_dict(with->state_dict());
  const auto logits = [&](nn::EncoderDecoder& model) { return model(source_, lengths_, target_).data(); };
  EXPECT_FALSE(identical(logits(*with), logits(*with)));
  with->eval();
  EXPECT_TRUE(identical(logits(*with), logits(*without)));
  with->train();
  EXPECT_FALSE(identical(logits(*with), logits(*with)));
}

TEST_P(EncoderDecoder, weights_survive_a_file) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  const auto saved = make(), loaded = make();
  save_safetensors(path, saved->state_dict());
  loaded->load_state_dict(load_safetensors(path).tensors);
  EXPECT_TRUE(
      identical((*loaded)(source_, lengths_, target_).data(), (*saved)(source_, lengths_, target_).data()));
}

TEST_P(EncoderDecoder, names_words_and_lengths_that_do_not_fit) {
  const auto model = make();
  expect_error<IndexError>([&] { (*model)(filled(source_, 1, 0, 1, kSourceWords), lengths_, target_); },
                           "[embedding] id 9 is outside the table of 9 rows");
  expect_error<IndexError>([&] { (*model)(source_, lengths_, filled(target_, 1, 0, 1, -1)); },
                           "[embedding] id -1 is outside the table of 7 rows");
  expect_error<IndexError>([&] { (*model)(source_, ids({4, 5, 1}), target_); }, "came 5");
  expect_error<ShapeError>([&] { (*model)(source_, ids({4, 2}), target_); }, "came");
}

TEST(Bahdanau, drops_weights_of_attention) {
  // With one layer there is nothing else to drop.
  nn::Bahdanau model({.source_vocabulary = 5, .target_vocabulary = 4, .width = 8, .dropout = 0.5});
  const Tensor source = ids({{1, 2, 3, 4}}), target = ids({{1, 2, 3}});
  EXPECT_FALSE(identical(model(source, ids({4}), target).data(), model(source, ids({4}), target).data()));
}

TEST(TransformerModel, drops_embedded_words_with_their_places) {
  // With all dropped, a post-norm stack has nothing left that tells words and places apart.
  nn::TransformerModel model(transformer_options(nn::PositionKind::sinusoidal, 1));
  const Tensor source = ids({{1, 2, 3}}), target = ids({{1, 2, 3}});
  const Tensor logits = model(source, ids({3}), target).data();
  for (int64_t t = 1; t < 3; ++t) EXPECT_TRUE(close(logits.select(1, t), logits.select(1, 0), kExact)) << t;
}

TEST(TransformerModel, names_both_numbers_when_a_sentence_is_too_long) {
  for (const auto position :
       {nn::PositionKind::sinusoidal, nn::PositionKind::learned, nn::PositionKind::rotary}) {
    nn::TransformerModel model(transformer_options(position));
    const Tensor longest = zeros({1, 6}, DType::i64), longer = zeros({1, 7}, DType::i64), length = ids({6});
    EXPECT_EQ(model(longest, length, longest).shape(), Shape({1, 6, kTargetWords}));
    expect_error<ShapeError>([&] { model(longer, length, longest); }, "wanted at most 6 places, came 7");
    expect_error<ShapeError>([&] { model(longest, length, longer); }, "wanted at most 6 places, came 7");
    const auto decoding = model.start(longest, length);
    for (int64_t t = 0; t < 6; ++t) decoding->step(ids({2}));
    expect_error<ShapeError>([&] { decoding->step(ids({2})); },
                             "wanted at most 6 places, came 1 from place 6 on");
  }
}

}  // namespace
