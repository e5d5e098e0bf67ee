#include <heed/study/report.h>

#include <gtest/gtest.h>

#include <heed/study/internal/page.h>
#include <heed/study/internal/report_data.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/error.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <unistd.h>

#include "tests/study/page/synthetic.h"
#include "tests/study/page_reader.h"

using namespace heed;
using namespace heed::study;
using namespace heed::study::test;

namespace {

/// One layer "a" of two heads on two queries and three keys, with one flow to "input".
Report small_report() {
  Report report{.title = "Small"};
  report.layers = {random_layer("a", 2, {{"x"}, {"y"}}, {{"p"}, {"q"}, {"r", true}}, 1)};
  report.layers[0].flows = {random_flow("input", {"query", "residual"}, 2, {{"x"}, {"y"}}, 2)};
  return report;
}

/// The message of the E that a page of this report fails with.
template <class E>
std::string failure(const std::function<void(Report&)>& spoil) {
  Report report = small_report();
  spoil(report);
  try {
    report_html(report);
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

void expect_near_rows(const UnpackedRows& rows, const Tensor& tensor) {
  const auto values = tensor.to_vector<double>();
  const size_t columns = values.size() / rows.scales.size();
  ASSERT_EQ(rows.values.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::abs(rows.values[i] - values[i]), 0.5001 * rows.scales[i / columns]) << i;
  }
}

}  // namespace

TEST(Report, wants_tensors_that_fit_the_tokens) {
  EXPECT_EQ(failure<ShapeError>([](Report& r) {
              r.layers[0].weights = zeros({2, 3, 3});
            }),
            "[report] layer \"a\", weights: wanted f32(2, 2, 3), came f32(2, 3, 3)");
  EXPECT_EQ(failure<ShapeError>([](Report& r) { r.layers[0].weights = Tensor(); }),
            "[report] layer \"a\", weights: wanted f32(1, 2, 3), came undefined");
  EXPECT_EQ(failure<ShapeError>([](Report& r) {
              r.layers[0].gradients = zeros({1, 2, 3});
            }),
            "[report] layer \"a\", gradients: wanted f32(2, 2, 3), came f32(1, 2, 3)");
  EXPECT_EQ(failure<ShapeError>([](Report& r) { r.layers[0].entropy = zeros({3}); }),
            "[report] layer \"a\", entropy: wanted f32(2,), came f32(3,)");
  EXPECT_EQ(failure<ShapeError>([](Report& r) {
              r.layers[0].saturation = zeros({2, 1});
            }),
            "[report] layer \"a\", saturation: wanted f32(2,), came f32(2, 1)");
  EXPECT_EQ(failure<ShapeError>([](Report& r) {
              r.layers[0].flows[0].parts[0].share = zeros({2, 3});
            }),
            "[report] layer \"a\", flow to \"input\" by \"query\", share: wanted f32(2, 2), came f32(2, 3)");
  EXPECT_EQ(
      failure<ShapeError>([](Report& r) {
        r.layers[0].flows[0].parts[1].norm = zeros({2, 2});
      }),
      "[report] layer \"a\", flow to \"input\" by \"residual\", norm: wanted f32(1, 2), came f32(2, 2)");
  EXPECT_EQ(failure<ShapeError>([](Report& r) { r.layers[0].flows[0].norm = zeros({1}); }),
            "[report] layer \"a\", flow to \"input\", norm: wanted f32(2,), came f32(1,)");
}

TEST(Report, wants_f32) {
  EXPECT_EQ(failure<DTypeError>([](Report& r) {
              r.layers[0].weights = zeros({2, 2, 3}, DType::f64);
            }),
            "[report] layer \"a\", weights: wanted f32, came f64(2, 2, 3)");
}

TEST(Report, wants_heads_tokens_and_parts) {
  EXPECT_EQ(failure<ValueError>([](Report& r) {
              r.layers[0].weights = zeros({0, 2, 3});
            }),
            "[report] layer \"a\": wanted heads, queries and keys, came 0, 2 and 3");
  EXPECT_EQ(failure<ValueError>([](Report& r) { r.layers[0].keys.clear(); }),
            "[report] layer \"a\": wanted heads, queries and keys, came 2, 2 and 0");
  EXPECT_EQ(failure<ValueError>([](Report& r) { r.layers[0].flows[0].tokens.clear(); }),
            "[report] layer \"a\", flow to \"input\": wanted tokens and parts, came 0 and 2");
  EXPECT_EQ(failure<ValueError>([](Report& r) { r.layers[0].flows[0].parts.clear(); }),
            "[report] layer \"a\", flow to \"input\": wanted tokens and parts, came 2 and 0");
  EXPECT_EQ(failure<ValueError>([](Report& r) {
              r.layers[0].flows[0].parts[0].share = zeros({0, 2});
            }),
            "[report] layer \"a\", flow to \"input\" by \"query\": wanted at least one head, came none");
}

TEST(Report, wants_as_many_x_as_y) {
  EXPECT_EQ(failure<ValueError>([](Report& r) {
              r.charts = {{.title = "loss", .x_label = "", .y_label = "", .lines = {{"train", {1, 2}, {3}}}}};
            }),
            "[report] chart \"loss\", line \"train\": wanted as many x as y, came 2 and 1");
}

TEST(Report, may_be_empty) {
  const auto data = data_of(report_html({.title = ""}));
  EXPECT_TRUE(data["layers"].empty());
  EXPECT_TRUE(data["charts"].empty());
}

TEST(Report, holds_its_numbers_within_half_a_step) {
  Report report = translator();
  ReportLayer& layer = report.layers[2];
  layer.weights = layer.weights.transpose(1, 2).contiguous().transpose(1, 2);  // any layout in memory
  const auto data = data_of(report_html(report));
  const auto& packed = data["layers"][2];
  EXPECT_EQ(packed["name"], "decoder.layers.0.cross_attention");
  EXPECT_EQ(packed["weights"]["bits"], 16);
  EXPECT_FALSE(packed.contains("kept"));
  expect_near_rows(unpack(packed["weights"], layer.weights.size(2)), layer.weights);
  expect_near_rows(unpack(packed["gradients"], layer.weights.size(2)), layer.gradients);
  const ReportFlow& flow = layer.flows[1];
  const auto& packed_flow = packed["flows"][1];
  EXPECT_EQ(packed_flow["input"], "memory");
  EXPECT_EQ(packed_flow["parts"][1]["path"], "value");
  const auto places = static_cast<int64_t>(flow.tokens.size());
  expect_near_rows(unpack(packed_flow["parts"][1]["share"], places), flow.parts[1].share);
  expect_near_rows(unpack(packed_flow["parts"][1]["norm"], places), flow.parts[1].norm);
  expect_near_rows(unpack(packed_flow["norm"], places), flow.norm);
  for (int64_t head = 0; head < 4; ++head) {
    EXPECT_NEAR(packed["entropy"][head].get<double>(), layer.entropy.at({head}), 1e-6);
    EXPECT_NEAR(packed["saturation"][head].get<double>(), layer.saturation.at({head}), 1e-6);
  }
}

TEST(Report, leaves_out_what_it_was_not_given) {
  Report report = small_report();
  report.layers[0].gradients = report.layers[0].entropy = report.layers[0].saturation = Tensor();
  const auto layer = data_of(report_html(report))["layers"][0];
  for (const char* name : {"gradients", "entropy", "saturation", "kept"})
    EXPECT_FALSE(layer.contains(name)) << name;
}

TEST(Report, shows_numbers_that_are_not_finite_as_such) {
  Report report = small_report();
  report.layers[0].gradients.set({1, 0, 2}, std::nan(""));
  report.layers[0].entropy.set({0}, std::nan(""));
  const auto layer = data_of(report_html(report))["layers"][0];
  const UnpackedRows rows = unpack(layer["gradients"], 3);
  for (size_t i = 0; i < rows.values.size(); ++i) EXPECT_EQ(std::isnan(rows.values[i]), i == 8) << i;
  EXPECT_TRUE(layer["entropy"][0].is_null());
}

TEST(Report, holds_equal_sequences_of_tokens_and_equal_x_once) {
  const auto data = data_of(report_html(translator()));
  EXPECT_EQ(data["sequences"].size(), 2U);
  EXPECT_EQ(data["sequences"][0]["texts"][1], "old");
  EXPECT_EQ(data["sequences"][0]["special"], (std::vector<int>{8, 9, 10, 11}));
  const auto& lines = data["charts"][1]["lines"];
  EXPECT_EQ(lines[0]["x"].size(), 300U);
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines[i]["x"], 0);
  EXPECT_EQ(data["charts"][1]["logY"], true);
}

TEST(Report, of_twelve_layers_and_heads_on_200_tokens_is_below_5_megabytes) {
  const Report report = largest();
  const std::string page = report_html(report);
  EXPECT_LT(page.size(), 5'000'000U);
  const auto data = data_of(page);
  const int64_t kept = data["precision"]["kept"];
  EXPECT_GE(kept, 30);
  EXPECT_EQ(data["precision"]["bits"], 8);
  const auto& packed = data["layers"][7];
  const UnpackedRows weights = unpack(packed["weights"], 200, packed["kept"]);
  const auto values = report.layers[7].weights.to_vector<double>();
  double of_weights = 0, all = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (weights.kept[i]) {
      EXPECT_LE(std::abs(weights.values[i] - values[i]), 0.5001 * weights.scales[i / 200]);
    }
    of_weights += weights.kept[i] ? values[i] : 0;
    all += values[i];
  }
  EXPECT_EQ(std::count(weights.kept.begin(), weights.kept.end(), true), 12 * 200 * kept);
  EXPECT_NEAR(of_weights / all, data["precision"]["weights"].get<double>(),
              0.02);  // it is that of all layers
}

TEST(Precision, is_the_finest_that_fits) {
  const auto tokens = long_sentence(100);
  const std::vector<ReportLayer> layers{random_layer("a", 2, tokens, tokens, 1)};
  // 200 rows of two matrices: two scales, and 100 numbers of 2 bytes, or of 1, or a mask of 13 bytes and
  // fewer.
  const auto check = [&](int64_t characters, int bits, int64_t kept) {
    const internal::Precision precision = internal::finest_precision(layers, characters);
    EXPECT_EQ(precision.bits, bits) << characters;
    EXPECT_EQ(precision.kept, kept) << characters;
  };
  const auto characters = [](int64_t row) { return (200 * row + 2) / 3 * 4; };
  check(characters(2 * (4 + 200)), 16, 100);
  check(characters(2 * (4 + 200)) - 1, 8, 100);
  check(characters(2 * (4 + 100)), 8, 100);
  check(characters(2 * (4 + 100)) - 1, 8, 93);
  check(characters(2 * (4 + 10) + 13), 8, 10);
  check(characters(2 * (4 + 10) + 13) - 1, 8, 9);
  check(0, 8, 1);
  EXPECT_EQ(internal::finest_precision({}, 0).bits, 16);
}

TEST(ReportPage, has_one_end_of_its_data_whatever_the_tokens_say) {
  const std::string page = report_html(hostile());
  EXPECT_EQ(data_text(page).find('<'), std::string::npos);
  const auto data = data_of(page);
  const auto& texts = data["sequences"][0]["texts"];
  EXPECT_EQ(texts[0], "</script><script>document.title = 'broken'</script>");
  EXPECT_EQ(texts[4], "שלום");
  EXPECT_EQ(texts[9], "\xEF\xBF\xBD\xEF\xBF\xBD");  // no UTF-8
  EXPECT_EQ(texts[14].get<std::string>().size(), 300U);
  EXPECT_TRUE(data["charts"][0]["lines"][0]["y"][1].is_null());
}

TEST(ReportPage, fills_in_all_marks_and_names_no_host) {
  const std::string page = report_html(small_report());
  for (const char* mark : {"{{style}}", "{{script}}", "{{data}}"})
    EXPECT_EQ(page.find(mark), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  std::string allowed = page;
  const std::string svg = "http://www.w3.org/2000/svg";  // a name, which nobody asks for
  allowed.erase(allowed.find(svg), svg.size());
  for (const char* scheme : {"http:", "https:", "//cdn", "@import"}) {
    EXPECT_EQ(allowed.find(scheme), std::string::npos) << scheme;
  }
}

TEST(ReportPage, is_the_same_for_the_same_report) {
  EXPECT_EQ(report_html(translator()), report_html(translator()));
}

TEST(WriteReport, writes_the_page) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("heed-report-{}.html", ::getpid());
  write_report(path, small_report());
  std::ifstream file(path, std::ios::binary);
  const std::string written{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(path);
  EXPECT_EQ(written, report_html(small_report()));
}

TEST(WriteReport, leaves_no_file_behind_where_it_fails) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("heed-report-{}.html", ::getpid());
  Report report = small_report();
  report.layers[0].keys.clear();
  EXPECT_THROW(write_report(path, report), ValueError);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(write_report("/nowhere/report.html", small_report()), FileError);
}
