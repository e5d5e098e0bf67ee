#include <heed/tensor/files/atomic_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <heed/tensor/error.h>
#include <heed/tensor/files/quote.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFileMode = 0666;  // less the process's umask
constexpr mode_t kPermissionBits = 07777;
/// Linux writes less than 2 GiB at a time; smaller pieces keep the file growing steadily.
constexpr size_t kMostAtOnce = size_t{1} << 26;
constexpr int kMostNames = 100;

[[noreturn]] void fail(const std::string& path, const char* what, int reason) {
  raise<FileError>("[write_file] {}: {}: {}", in_quotes(path), what, std::generic_category().message(reason));
}

/// The file that is replaced: what `path` points to when it is a link. Anything but a plain file, such as
/// a device, must not be renamed over.
fs::path target_of(const std::string& path) {
  std::error_code error;
  const fs::file_status link = fs::symlink_status(path, error);
  if (link.type() == fs::file_type::not_found) return path;
  const fs::path target = link.type() == fs::file_type::symlink ? fs::canonical(path, error) : fs::path(path);
  if (error) fail(path, "cannot be looked up", error.value());
  if (!fs::is_regular_file(target, error))
    raise<FileError>(
        "[write_file] {}: wanted a path to write a file to, came something that is no plain file",
        in_quotes(path));
  return target;
}

/// An open descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  /// Closes now, since close may be where a network file system reports a failed write.
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

std::string temporary_name(unsigned random) { return fmt::format(".heed-{}-{:08x}.tmp", ::getpid(), random); }

/// Whether temporary_name() gives such names, in this process or another.
bool is_temporary_name(std::string_view name) {
  constexpr std::string_view kPrefix = ".heed-", kSuffix = ".tmp";
  constexpr size_t kRandomDigits = 8;
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const size_t dash = name.find('-');
  if (dash == 0 || dash == name.npos) return false;
  const std::string_view process = name.substr(0, dash), random = name.substr(dash + 1);
  return process.find_first_not_of("0123456789") == name.npos && random.size() == kRandomDigits &&
         random.find_first_not_of("0123456789abcdef") == name.npos;
}

/// A new file of an unused name beside the target; removed unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& folder) {
    std::random_device random;
    for (int i = 0; i < kMostNames && descriptor_ < 0; ++i) {
      name_ = folder / temporary_name(random());
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode);
      if (descriptor_ < 0 && errno != EEXIST) return;
    }
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0 && !renamed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_; }
  bool rename_to(const fs::path& target) {
    renamed_ = std::rename(name_.c_str(), target.c_str()) == 0;
    return renamed_;
  }

 private:
  fs::path name_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

/// Brings the rename itself to the disk.
void sync_folder(const fs::path& folder, const std::string& path) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.number() < 0) {
    if (errno == EACCES) return;  // a folder may be open for writing and not for reading
    fail(path, "its folder cannot be opened", errno);
  }
  // EINVAL: a file system that has nothing to bring to the disk here.
  if (::fsync(descriptor.number()) != 0 && errno != EINVAL) fail(path, "its folder cannot be synced", errno);
}

}  // namespace

void FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (count >= 0)
      bytes = bytes.subspan(static_cast<size_t>(count));
    else if (errno != EINTR)
      fail(path_, "cannot be written", errno);
  }
}

void write_file_atomically(const std::string& path, const std::function<void(FileWriter&)>& write) {
  const fs::path target = target_of(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  TemporaryFile file(folder);
  if (file.descriptor() < 0) fail(path, "no file can be made in its folder", errno);
  Descriptor descriptor(file.descriptor());
  struct stat old {};
  if (::stat(target.c_str(), &old) == 0 && ::fchmod(descriptor.number(), old.st_mode & kPermissionBits) != 0)
    fail(path, "the mode of the old file cannot be kept", errno);
  FileWriter writer(descriptor.number(), path);
  write(writer);
  if (::fsync(descriptor.number()) != 0) fail(path, "cannot be brought to the disk", errno);
  if (descriptor.close() != 0) fail(path, "cannot be closed", errno);
  if (!file.rename_to(target)) fail(path, "cannot be put in place", errno);
  sync_folder(folder, path);
}

void remove_abandoned_files(const std::string& folder) {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (is_temporary_name(entry.path().filename().string()) &&
          entry.symlink_status().type() == fs::file_type::regular)
        fs::remove(entry.path());
  } catch (const fs::filesystem_error& problem) {
    raise<FileError>("[remove_abandoned_files] {}: {}", in_quotes(folder), problem.code().message());
  }
}

}  // namespace heed
