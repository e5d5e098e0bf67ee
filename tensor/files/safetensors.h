#pragma once

#include <map>
#include <string>

#include <heed/tensor/tensor.h>

/// The safetensors format: 8 bytes of little-endian header length, a JSON header, then the numbers.
/// https://github.com/huggingface/safetensors#format
namespace heed {

/// What a safetensors file holds.
struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads F32, F64, BF16, I64 and BOOL as they are, and F16 into f32. The numbers are copied: the tensors do
/// not depend on the file afterwards. Throws FileError, with the path and the tensor's name, when the file
/// cannot be read, breaks the format in any way, or holds another dtype or more than 8 axes.
SafetensorsFile load_safetensors(const std::string& path);

/// Writes the tensors, views among them as their own contiguous numbers, in order of element size (the
/// largest first) and then of name, without gaps and each aligned to its element size. The file is written as
/// write_file_atomically does. Throws ValueError for an undefined tensor, for a name or metadata that is not
/// UTF-8 and for the name "__metadata__", and FileError when the file cannot be written.
void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace heed
