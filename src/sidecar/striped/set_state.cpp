#include "sidecar/striped/set_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "engine/checksum.hpp"
#include "engine/io/file.hpp"
#include "engine/log/format.hpp"
#include "sidecar/copy_file.hpp"

namespace headrace::sidecar {
namespace {

constexpr std::string_view kFirst = "headrace_stripe=1\n";
constexpr std::string_view kNode = "node=";
constexpr std::string_view kState = "state=";
constexpr std::string_view kSize = "size=";
constexpr std::string_view kChecksum = "crc32=";
constexpr std::string_view kLast = "end\n";  // what was torn has none
constexpr int kHex = 16;
constexpr std::size_t kHexDigits = 8;
constexpr std::uint64_t kMostText = std::uint64_t{32} << 20U;  // a million checksums
constexpr std::size_t kPart = std::size_t{1} << 20U;

bool take(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

template <typename Number>
bool take_number(std::string_view& text, Number& number, int base) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (failure != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return take(text, "\n");
}

std::string hex(std::uint32_t number) {
  std::array<char, kHexDigits> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number, kHex).ptr;
  const std::string_view text(digits.begin(), end);
  return std::string(kHexDigits - text.size(), '0').append(text);
}

// Over what is there: who is interrupted, or has no room, leaves the names of nodes at its begin.
void write_text(const Descriptor& file, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  const auto storage = engine::io::posix_file(file.get(), file.path().c_str());
  storage->write(0, {&bytes, 1});
  if (static_cast<std::uint64_t>(file.status().st_size) != text.size())
    storage->resize(text.size());
}

// Where the nodes end, false for a line that is torn.
bool take_nodes(std::string_view& text, std::vector<std::string>& nodes) {
  while (take(text, kNode)) {
    const std::size_t end = text.find('\n');
    if (end == 0 || end == std::string_view::npos) return false;
    nodes.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return true;
}

bool take_rest(std::string_view& text, SetState& state) {
  if (!take(text, kState)) return false;
  state.closed = take(text, "closed\n");
  // What a longer text has left may come after it.
  if (!state.closed) return take(text, "open\n") && take(text, kLast);
  if (!take(text, kSize) || !take_number(text, state.size, 10)) return false;
  if (state.size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return false;
  while (take(text, kChecksum))
    if (!take_number(text, state.checksums.emplace_back(), kHex)) return false;
  return text == kLast;
}

}  // namespace

std::optional<SetState> parse_set_state(std::string_view text) {
  SetState state;
  if (!take(text, kFirst) || !take_nodes(text, state.nodes)) return std::nullopt;
  if (take_rest(text, state)) return state;
  if (state.nodes.empty()) return std::nullopt;
  // Torn, as there was no room: the nodes are what they were.
  return SetState{false, 0, {}, state.nodes};
}

std::string set_state_text(const SetState& state) {
  std::string text(kFirst);
  for (const std::string& node : state.nodes) text.append(kNode).append(node).append("\n");
  text.append(kState).append(state.closed ? "closed\n" : "open\n");
  if (state.closed) text.append(kSize).append(std::to_string(state.size)).append("\n");
  for (const std::uint32_t each : state.checksums)
    text.append(kChecksum).append(hex(each)).append("\n");
  return text.append(kLast);
}

std::string state_path_of(const std::string& config) {
  return std::filesystem::path(config).replace_extension(".state");
}

std::optional<SetState> read_set_state(const std::string& config) try {
  const std::string path = state_path_of(config);
  const Descriptor file(path, O_RDONLY);
  std::string text(std::min<std::uint64_t>(file.status().st_size, kMostText), '\0');
  engine::io::posix_file(file.get(), path.c_str())
      ->read(0, std::as_writable_bytes(std::span(text)));
  return parse_set_state(text);
} catch (const std::exception&) {
  return std::nullopt;
}

void mark_open(const std::string& config, const std::vector<std::string>& nodes) {
  const std::string path = state_path_of(config);
  try {
    const Descriptor file(path, O_WRONLY | O_CREAT, 0600);
    if (struct stat of{}; file.status().st_size == 0 && ::stat(config.c_str(), &of) == 0)
      open_to_those_of(of, file);
    write_text(file, set_state_text({false, 0, {}, nodes}));
  } catch (const Error& error) {
    if (!nodes.empty()) throw;
    const int number = error.error_number();
    // A file cut to nothing says as much.
    if (error.kind() == ErrorKind::no_space && ::truncate(path.c_str(), 0) == 0) return;
    if ((number != EACCES && number != EPERM && number != EROFS) || std::filesystem::exists(path))
      throw;
  }
}

void mark_closed(const std::string& config, const SetState& state, bool sync) try {
  const Descriptor file(state_path_of(config), O_WRONLY);
  write_text(file, set_state_text(state));
  if (sync) sidecar::sync(file);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::not_found) throw;
}

std::uint32_t checksum_of_file(const std::string& path) {
  const Descriptor file(path, O_RDONLY | O_CLOEXEC);
  const auto storage = engine::io::posix_file(file.get(), path.c_str());
  auto left = static_cast<std::uint64_t>(file.status().st_size);
  std::vector<std::byte> part(std::min<std::uint64_t>(left, kPart));
  std::uint32_t sum = 0;
  for (std::uint64_t at = 0; left > 0;) {
    const auto bytes = std::span(part).first(std::min<std::uint64_t>(left, kPart));
    storage->read(at, bytes);
    sum = engine::checksum(bytes, sum);
    at += bytes.size();
    left -= bytes.size();
  }
  return sum;
}

}  // namespace headrace::sidecar
