#include <heed/study/report.h>

#include <heed/tensor/files/atomic_file.h>

namespace heed::study {

void write_report(const std::filesystem::path& path, const Report& report) {
  const std::string page = report_html(report);
  write_file_atomically(path.string(), [&](FileWriter& file) { file.write(std::as_bytes(std::span(page))); });
}

}  // namespace heed::study
