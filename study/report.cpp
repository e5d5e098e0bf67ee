#include <heed/study/report.h>

#include <heed/study/internal/page.h>
#include <heed/study/internal/report_data.h>
#include <heed/tensor/files/atomic_file.h>

namespace heed::study {
namespace {

void fill_in(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string report_html(const Report& report) {
  internal::check_report(report);
  std::string script;
  for (const std::string_view part : internal::page_scripts) script += part;
  std::string page(internal::page_html);
  fill_in(page, "{{style}}", internal::page_style);
  fill_in(page, "{{script}}", script);
  fill_in(page, "{{data}}", internal::report_json(report));
  return page;
}

void write_report(const std::filesystem::path& path, const Report& report) {
  const std::string page = report_html(report);
  write_file_atomically(path.string(), [&](FileWriter& file) { file.write(std::as_bytes(std::span(page))); });
}

}  // namespace heed::study
