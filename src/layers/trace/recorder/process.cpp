#include "layers/trace/recorder/process.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/process/machine.hpp"
#include "engine/threads/thread_pool.hpp"
#include "vol/callbacks.hpp"

namespace headrace::trace {
namespace {

// The words of a process's command line, each with a 0 behind it. Some programs have megabytes of
// them.
std::string words_of(const std::string& process) {
  constexpr std::size_t kMost = 4096;
  std::ifstream file("/proc/" + process + "/cmdline", std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(kMost));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// The same as a list.
std::string command() {
  const std::string text = words_of("self");
  std::string list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    list += (list.empty() ? "" : ",") + json_quote(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return '[' + list + ']';
}

}  // namespace

JsonObject process_facts(bool anonymous) {
  JsonObject facts;
  facts.number("pid", ::getpid())
      .number("parent", ::getppid())
      .text("host", host_name())
      .raw("command", anonymous ? "[]" : command())
      .number("time", since_1970())
      .number("cores", engine::available_cores());
  return facts;
}

bool is_parents_program() {
  const std::string own = words_of("self");
  return !own.empty() && own == words_of(std::to_string(::getppid()));
}

std::string callback_names() {
  std::string list;
  for (const char* const name : vol::kCallbackNames)
    list += (list.empty() ? "" : ",") + json_quote(name);
  return '[' + list + ']';
}

}  // namespace headrace::trace
