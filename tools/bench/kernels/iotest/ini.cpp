#include "kernels/iotest/ini.hpp"

#include <ini.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace headrace::bench::iotest {
namespace {

// inih tells a handler no line numbers; but it asks for the lines one by one.
struct Source {
  std::string path;
  std::string text;
  std::size_t at = 0;
  int line = 0;
  std::string error;  // the first
  std::vector<IniEntry> entries;

  [[nodiscard]] std::string where(int number) const { return path + ':' + std::to_string(number); }
};

// As fgets does, but a line that does not fit is an error.
char* next_line(char* buffer, int size, void* stream) {
  auto& source = *static_cast<Source*>(stream);
  if (source.at >= source.text.size()) return nullptr;
  const std::size_t newline = source.text.find('\n', source.at);
  const std::size_t end = newline == std::string::npos ? source.text.size() : newline + 1;
  const std::size_t length = end - source.at;
  const auto room = static_cast<std::size_t>(size) - 1;
  ++source.line;
  if (length > room && source.error.empty())
    source.error = source.where(source.line) + ": the line is longer than " +
                   std::to_string(room - 1) + " characters";
  const std::size_t fitting = std::min(length, room);
  source.text.copy(buffer, fitting, source.at);
  buffer[fitting] = '\0';
  source.at = end;
  return buffer;
}

int take_entry(void* user, const char* /*section*/, const char* name, const char* value) {
  auto& source = *static_cast<Source*>(user);
  source.entries.push_back({name, value, source.where(source.line)});
  return 1;
}

std::string text_of(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // A folder can be opened, but not read.
  if (!file || errno == EISDIR)
    throw Error(path + ": cannot be read: " + std::strerror(errno == 0 ? EIO : errno), errno);
  if (text.find('\0') != std::string::npos) throw Error(path + ": is not an INI file");
  return text;
}

}  // namespace

std::vector<IniEntry> read_ini(const std::string& path) {
  Source source{path, text_of(path), 0, 0, {}, {}};
  // Else an indented key would continue the value of the one above it.
  ini_allow_multiline = false;
  const int bad = ini_parse_stream(&next_line, &source, &take_entry, &source);
  if (!source.error.empty()) throw Error(source.error);
  if (bad > 0)
    throw Error(source.where(bad) + ": is neither [section], nor key = value, nor a comment");
  if (bad < 0) throw Error(path + ": cannot be parsed");
  return source.entries;
}

}  // namespace headrace::bench::iotest
