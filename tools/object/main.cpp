// headrace-object COMMAND: looks at stores of the layer object and their containers, checks and
// cleans them; `headrace object` shows what it tells. FILE is the stub of a container.
//
//   ls STORE|FILE            stat FILE [PATH]         fsck [--data] STORE|FILE
//   gc [--dry-run] STORE|FILE        rm FILE          rm --id ID STORE        link STORE ID FILE
//
// --store=FOLDER says where the store is, if not where the stub says. Status 1: damage was found,
// or something was left as it is; 2: what was asked for cannot be done.
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "target.hpp"

namespace headrace::object_tool {
namespace {

constexpr int kFailed = 2;
constexpr const char* kUsage =
    "usage: headrace-object ls|stat|fsck|gc|rm|link [--store=FOLDER] [--id=ID] [--data] "
    "[--dry-run] STORE|FILE ...";

// Takes the options out of the words.
Options take_options(std::vector<std::string>& words) {
  Options options;
  std::vector<std::string> rest;
  bool are_over = false;
  for (const std::string& word : words) {
    const auto value_of = [&](const std::string& name) { return word.substr(name.size()); };
    if (are_over || !word.starts_with("--"))
      rest.push_back(word);
    else if (word == "--")
      are_over = true;
    else if (word.starts_with("--store="))
      options.store = value_of("--store=");
    else if (word.starts_with("--id="))
      options.id = value_of("--id=");
    else if (word == "--data")
      options.all_data = true;
    else if (word == "--dry-run")
      options.is_dry = true;
    else
      throw Error("no such option: " + printable(word));
  }
  words = std::move(rest);
  return options;
}

int run(std::vector<std::string> words) {
  const Options options = take_options(words);
  const std::string command = words.empty() ? "" : words[0];
  const std::size_t count = words.size();
  if (command == "ls" && count == 2) return list(words[1], options);
  if (command == "stat" && (count == 2 || count == 3))
    return stat(words[1], count == 3 ? words[2] : "", options);
  if (command == "fsck" && count == 2) return fsck(words[1], options);
  if (command == "gc" && count == 2) return gc(words[1], options);
  if (command == "rm" && count == 2) return remove(words[1], options);
  if (command == "link" && count == 4) return link(words[1], words[2], words[3]);
  throw Error(kUsage);
}

}  // namespace
}  // namespace headrace::object_tool

int main(int argc, char** argv) {
  try {
    const std::span all(argv, static_cast<std::size_t>(argc));
    return headrace::object_tool::run({all.begin() + 1, all.end()});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return headrace::object_tool::kFailed;
  }
}
