#include "sidecar/striped/striped_config.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {
namespace {

constexpr std::uint64_t kMostSubfiles = 1'000'000;
constexpr std::uint64_t kMostStripe = std::uint64_t{1} << 62U;
constexpr std::uint64_t kMostConfig = std::uint64_t{64} << 20U;  // a name for each of a million
// HDF5's subfiling looks for its own keys, and h5fuse for names after the last one.
constexpr std::string_view kId = "headrace_id=";

// Takes the next line off, without its end.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::uint64_t number_of(std::string_view value, const char* key, std::uint64_t most,
                        const std::string& path) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc{} || end != value.data() + value.size() || number < 1 || number > most)
    throw Error(path + ": " + key + "=" + printable(value.substr(0, 40)) +
                    " is no number from 1 to " + std::to_string(most),
                ErrorKind::corrupt);
  return number;
}

// The line that HDF5's subfiling does not write; empty where there is none.
std::string take_id(std::string_view& text) {
  if (!text.starts_with(kId)) return {};
  return std::string(next_line(text).substr(kId.size()));
}

void check_name(std::string_view name, const std::string& path) {
  if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos ||
      name == "." || name == "..")
    throw Error(path + ": " + printable(name.substr(0, 80)) + " is no name of a subfile",
                ErrorKind::corrupt);
}

}  // namespace

StripedConfig parse_striped_config(std::string_view text, const std::string& path) {
  constexpr std::array kKeys{"stripe_size", "aggregator_count", "subfile_count", "hdf5_file",
                             "subfile_dir"};
  std::array<std::string_view, kKeys.size()> values;
  StripedConfig config;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (i + 1 == kKeys.size()) config.id = take_id(text);
    const std::string key = std::string(kKeys[i]) + "=";
    const std::string_view line = next_line(text);
    if (!line.starts_with(key))
      throw Error(std::string(path).append(": line ").append(std::to_string(i + 1)) + " is not " +
                      key + "...",
                  ErrorKind::corrupt);
    values[i] = line.substr(key.size());
  }
  config.layout.stripe = number_of(values[0], kKeys[0], kMostStripe, path);
  config.layout.count =
      static_cast<std::uint32_t>(number_of(values[2], kKeys[2], kMostSubfiles, path));
  config.stub = values[3];
  config.folder = values[4];
  while (!text.empty()) {
    const std::string_view name = next_line(text);
    if (name.empty()) continue;
    check_name(name, path);
    config.names.emplace_back(name);
  }
  if (config.names.size() != config.layout.count)
    throw Error(path + ": it names " + std::to_string(config.names.size()) + " subfiles of " +
                    std::to_string(config.layout.count),
                ErrorKind::corrupt);
  std::vector<std::string> sorted = config.names;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    throw Error(path + ": it names a subfile twice", ErrorKind::corrupt);
  return config;
}

StripedConfig read_striped_config(const std::string& path) {
  return read_striped_config(Descriptor(path, O_RDONLY));
}

StripedConfig read_striped_config(const Descriptor& file) {
  const std::string& path = file.path();
  const auto size = static_cast<std::uint64_t>(file.status().st_size);
  if (size > kMostConfig) throw Error(path + ": too long for the configuration of a set");
  std::string text(size, '\0');
  engine::io::posix_file(file.get(), path.c_str())
      ->read(0, std::as_writable_bytes(std::span(text)));
  return parse_striped_config(text, path);
}

std::string striped_config_text(const StripedConfig& config) {
  const std::string count = std::to_string(config.layout.count);
  std::string text;
  text.append("stripe_size=").append(std::to_string(config.layout.stripe));
  text.append("\naggregator_count=").append(count).append("\nsubfile_count=").append(count);
  text.append("\nhdf5_file=").append(config.stub).append("\n");
  if (!config.id.empty()) text.append(kId).append(config.id).append("\n");
  text.append("subfile_dir=").append(config.folder).append("\n");
  for (const std::string& name : config.names) text.append(name).append("\n");
  return text;
}

}  // namespace headrace::sidecar
