#include <heed/tensor/files/atomic_file.h>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include <heed/tensor/compare.h>
#include <heed/tensor/creation.h>
#include <heed/tensor/files/safetensors.h>
#include <heed/tensor/random.h>

#include "helpers.h"

using namespace heed;
using test::expect_error, test::read_bytes, test::TempDir, test::write_bytes;

namespace {

void write_text(const std::string& path, const std::string& text) {
  write_file_atomically(path, [&](FileWriter& file) { file.write(std::as_bytes(std::span(text))); });
}

Tensor checkpoint(uint64_t seed) {
  Generator generator(seed);
  return rand_uniform({200, 100}, -1, 1, DType::f32, generator);  // 80 KB
}

/// Runs f in a forked child, which ends with 0 when f returns true; gives its wait status.
template <class F>
int status_of_child(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// In the child: no file may grow beyond 4 KiB, and what breaks the limit is handled so.
void limit_files(void (*handler)(int)) {
  const rlimit limit{4096, 4096}, none{0, 0};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGXFSZ, handler);
}

/// Stray files of writers that died are never taken for checkpoints.
void expect_only_temporary_files_beside(const TempDir& folder, const std::string& wanted) {
  for (const std::string& name : folder.names())
    EXPECT_TRUE(name == wanted || (name.starts_with(".heed-") && name.ends_with(".tmp"))) << name;
}

}  // namespace

TEST(case_C31, a_failed_write_is_reported_and_the_old_file_is_whole) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  save_safetensors(path, {{"w", checkpoint(1)}});
  const int status = status_of_child([&] {
    limit_files(SIG_IGN);
    try {
      save_safetensors(path, {{"w", checkpoint(2)}});
    } catch (const FileError& error) {
      const std::string message = error.what();
      return message.find(path) != std::string::npos && message.find("File too large") != std::string::npos;
    }
    return false;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(identical(load_safetensors(path).tensors.at("w"), checkpoint(1)));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"model.safetensors"}) << "the temporary file is removed";
}

TEST(case_C31, a_process_that_dies_in_the_write_leaves_the_old_file_whole) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  save_safetensors(path, {{"w", checkpoint(1)}});
  const int status = status_of_child([&] {
    limit_files(SIG_DFL);
    save_safetensors(path, {{"w", checkpoint(2)}});
    return true;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
  EXPECT_TRUE(identical(load_safetensors(path).tensors.at("w"), checkpoint(1)));
  expect_only_temporary_files_beside(folder, "model.safetensors");
}

TEST(case_C31, a_process_that_is_killed_at_any_time_leaves_a_whole_file) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  const Tensor first = checkpoint(1), second = checkpoint(2);
  save_safetensors(path, {{"w", first}});
  Generator generator(31);
  for (int round = 0; round < 25; ++round) {
    const pid_t child = ::fork();
    if (child == 0)
      while (true) {
        save_safetensors(path, {{"w", second}});
        save_safetensors(path, {{"w", first}});
      }
    std::this_thread::sleep_for(std::chrono::microseconds(generator.below(20'000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    const Tensor loaded = load_safetensors(path).tensors.at("w");
    EXPECT_TRUE(identical(loaded, first) || identical(loaded, second));
  }
  expect_only_temporary_files_beside(folder, "model.safetensors");
}

TEST(case_C31, what_dead_processes_have_left_can_be_removed) {
  const TempDir folder;
  const std::string path = folder.file("model.safetensors");
  const int status = status_of_child([&] {
    limit_files(SIG_DFL);
    save_safetensors(path, {{"w", checkpoint(1)}});
    return true;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(folder.names().size(), 1u);
  remove_abandoned_files(folder.path());
  EXPECT_TRUE(folder.names().empty());
}

TEST(atomic_file, nothing_but_temporary_files_is_removed) {
  const TempDir folder;
  const std::vector<std::string> kept{
      "heed-1-0123abcd.tmp",   ".heed-1-0123abcd",     ".heed-1-0123abcd.tmp2",
      ".heed--0123abcd.tmp",   ".heed-1-0123abc.tmp",  ".heed-1-0123abcde.tmp",
      ".heed-1-0123ABCD.tmp",  ".heed-1-0123abcg.tmp", ".heed-x-0123abcd.tmp",
      ".heed-1.tmp",           ".heed-.tmp",           "model.safetensors",
      ".heed-1-2-0123abcd.tmp"};
  for (const std::string& name : kept) write_bytes(folder.file(name), "x");
  write_bytes(folder.file(".heed-1-0123abcd.tmp"), "x");
  write_bytes(folder.file(".heed-4194304-00000000.tmp"), "");
  std::filesystem::create_directory(folder.file(".heed-2-0123abcd.tmp"));
  std::filesystem::create_symlink("model.safetensors", folder.file(".heed-3-0123abcd.tmp"));
  remove_abandoned_files(folder.path());
  auto wanted = kept, names = folder.names();
  wanted.insert(wanted.end(), {".heed-2-0123abcd.tmp", ".heed-3-0123abcd.tmp"});
  std::ranges::sort(wanted);
  std::ranges::sort(names);
  EXPECT_EQ(names, wanted);
  expect_error<FileError>([&] { remove_abandoned_files(folder.file("none")); },
                          "none\": No such file or directory");
}

TEST(atomic_file, replaces_the_file) {
  const TempDir folder;
  const std::string path = folder.file("file");
  write_text(path, "one");
  EXPECT_EQ(read_bytes(path), "one");
  write_text(path, "two, longer");
  EXPECT_EQ(read_bytes(path), "two, longer");
  write_text(path, "");
  EXPECT_EQ(read_bytes(path), "");
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(atomic_file, an_exception_of_the_writer_leaves_all_as_it_was) {
  const TempDir folder;
  const std::string path = folder.file("file");
  const auto write_and_throw = [&] {
    write_file_atomically(path, [](FileWriter& file) {
      file.write(std::as_bytes(std::span("half", 4)));
      throw std::runtime_error("stop");
    });
  };
  EXPECT_THROW(write_and_throw(), std::runtime_error);
  EXPECT_TRUE(folder.names().empty());
  write_text(path, "old");
  EXPECT_THROW(write_and_throw(), std::runtime_error);
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(atomic_file, says_why_it_cannot_write) {
  const TempDir folder;
  expect_error<FileError>([&] { write_text(folder.file("no/file"), "x"); },
                          "no/file\": no file can be made in its folder: No such file or directory");
  expect_error<FileError>([&] { write_text("", "x"); }, "[write_file] \"\": ");
  expect_error<FileError>([&] { write_text(folder.path(), "x"); }, "something that is no plain file");
  expect_error<FileError>([&] { write_text("/dev/null", "x"); }, "something that is no plain file");
  write_text(folder.file("file"), "x");
  expect_error<FileError>([&] { write_text(folder.file("file/below"), "x"); }, "Not a directory");
  expect_error<FileError>([&] { write_text(folder.file(std::string(300, 'n')), "x"); }, "File name too long");
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(atomic_file, takes_the_longest_name_that_the_system_takes) {
  const TempDir folder;
  const std::string path = folder.file(std::string(255, 'n'));
  write_text(path, "x");
  EXPECT_EQ(read_bytes(path), "x");
}

TEST(atomic_file, follows_links_and_keeps_the_mode) {
  const TempDir folder;
  const std::string path = folder.file("file"), link = folder.file("link");
  write_text(path, "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  std::filesystem::create_symlink("file", link);
  write_text(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_bytes(path), "new");
  EXPECT_EQ(static_cast<int>(std::filesystem::status(path).permissions()), 0640);
  std::filesystem::create_symlink("nowhere", folder.file("dangling"));
  expect_error<FileError>([&] { write_text(folder.file("dangling"), "x"); }, "cannot be looked up");
}

TEST(atomic_file, a_new_file_has_the_mode_that_the_umask_leaves) {
  const TempDir folder;
  const mode_t before = ::umask(027);
  write_text(folder.file("file"), "x");
  ::umask(before);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(folder.file("file")).permissions()), 0640);
}

TEST(atomic_file, writes_in_the_current_folder) {
  const TempDir folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  write_text("file", "here");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_bytes(folder.file("file")), "here");
}
