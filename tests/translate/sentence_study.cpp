#include "translate/sentence_study.h"

#include <gtest/gtest.h>
#include <heed/study/report_layers.h>
#include <heed/tensor/files/safetensors.h>

#include <nlohmann/json.hpp>

#include "tests/translate/run.h"
#include "tests/translate/scratch.h"
#include "tests/translate/small_translator.h"
#include "translate/eval/teacher_forcing.h"

namespace heed::translate {
namespace {

const Sentence kSource{"we", "eat", "."}, kTarget{"nous", "dors", "."};

TEST(SentenceStudy, is_of_the_loss_that_evaluation_finds) {
  for (const ModelKind kind : {ModelKind::bahdanau, ModelKind::transformer}) {
    Translator translator = small_translator(kind);
    const SentenceStudy studied = study_sentence(translator, kSource, kTarget);
    const std::vector<SentencePair> pair{{kSource, kTarget, {}}};
    EXPECT_NEAR(studied.loss, predict(translator, pair).loss, 1e-6);
    EXPECT_TRUE(translator.model().is_training()) << "as it was";
    EXPECT_EQ(studied.record.attention.size(), kind == ModelKind::transformer ? 6 : 1);
    for (const auto& [name, parameter] : translator.model().named_parameters())
      EXPECT_FALSE(parameter.grad().defined()) << name;
  }
}

TEST(SentenceStudy, names_the_words_that_were_read_fed_and_written) {
  Translator translator = small_translator(ModelKind::transformer);
  const SentenceStudy studied = study_sentence(translator, {"you", "zigzag"}, kTarget);
  const auto words_of = [](const std::vector<study::ReportToken>& tokens) {
    std::string words;
    for (const study::ReportToken& token : tokens) words += token.text + (token.special ? "* " : " ");
    return words;
  };
  EXPECT_EQ(words_of(studied.source), "you zigzag <eos>* ") << "also a word that is not known";
  EXPECT_EQ(words_of(studied.fed), "<bos>* nous dors . ");
  EXPECT_EQ(words_of(studied.written), "nous dors . <eos>* ");
}

TEST(SentenceStudy, makes_a_report_of_every_layer_with_its_words) {
  for (const ModelKind kind : {ModelKind::bahdanau, ModelKind::transformer}) {
    Translator translator = small_translator(kind);
    const Scratch scratch;
    write(scratch.folder() / "metrics.jsonl",
          "{\"kind\":\"step\",\"step\":50,\"loss\":2.5,\"gradient_norms\":{\"output\":0.5}}\nnot "
          "json\n{\"step\":\"x\"}\n");
    const SentenceStudy studied = study_sentence(translator, kSource, kTarget);
    const study::Report report = sentence_report(translator, studied, scratch.folder());
    ASSERT_EQ(report.layers.size(), studied.record.attention.size());
    const study::ReportLayer& last = report.layers.back();
    EXPECT_EQ(last.queries[0].text, "nous");
    EXPECT_EQ(last.keys[0].text, "we");
    EXPECT_EQ(last.weights.size(1), 4);
    ASSERT_EQ(report.charts.size(), 4);
    EXPECT_EQ(report.charts[1].lines.size(), report.layers.size()) << "heads that are switched off, by layer";
    EXPECT_EQ(report.charts[2].lines.at(0).name, "output");
    EXPECT_EQ(report.charts[3].lines.at(0).y, std::vector<double>{2.5});
    EXPECT_GT(study::report_html(report).size(), 10'000U);
    EXPECT_EQ(sentence_report(translator, studied, scratch.folder() / "none").charts.size(), 2)
        << "no metrics, no curves of a training";
  }
}

TEST(SentenceStudy, wants_words_on_both_sides) {
  Translator translator = small_translator(ModelKind::bahdanau);
  EXPECT_EQ(message_of<ValueError>([&] { study_sentence(translator, kSource, {}); }),
            "[study] wanted a sentence and a translation with words, came \"we eat .\" and \"\"");
}

TEST(SentenceStudy, cuts_what_is_too_long_for_the_model) {
  Translator translator = small_translator(ModelKind::transformer);
  const SentenceStudy studied = study_sentence(translator, Sentence(30, "we"), kTarget);
  EXPECT_EQ(studied.source.size(), 8);
  EXPECT_EQ(sentence_report(translator, studied, {}).layers[0].queries.size(), 8);
}

TEST(StudyProgram, writes_a_page_tensors_and_statistics) {
  const Scratch scratch;
  const std::string folder = (scratch.folder() / "model").string(), out = scratch.folder().string();
  ASSERT_EQ(run("train --data copy:4 --examples 200 --steps 60 --out " + folder).status, 0);
  const Outcome done = run("study --dir " + folder + " --text 'a b' --target 'b a' --out " + out +
                           "/page.html --tensors " + out + "/t.safetensors --statistics " + out + "/s.json");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_NE(done.output.find("6 attention layers"), std::string::npos) << done.output;
  EXPECT_NE(contents_of(out + "/page.html").find("Gradient norms by layer over training"), std::string::npos);
  EXPECT_TRUE(load_safetensors(out + "/t.safetensors")
                  .tensors.contains("decoder.layers.0.cross_attention.weights.grad"));
  EXPECT_EQ(nlohmann::json::parse(contents_of(out + "/s.json")).at("attention").size(), 6);
}

TEST(StudyProgram, refuses_what_it_cannot_do) {
  const Scratch scratch;
  const std::string folder = scratch.folder().string();
  expect_refused("study --dir " + folder + " --text a --out x.html", 1, "wanted a model's folder");
  expect_refused("study --dir " + folder + " --text a", 2, "--out is required");
}

}  // namespace
}  // namespace heed::translate
