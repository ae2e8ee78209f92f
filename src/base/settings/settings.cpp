#include "base/settings/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace headrace {
namespace {

constexpr std::array kGlobal{
#define HEADRACE_SETTING(option, env, type, choices, unit, fallback, meaning) \
  Setting{option, env, Type::type, choices, unit, fallback, meaning},
#include "base/settings/settings.def"
#undef HEADRACE_SETTING
};

constexpr std::string_view kPrefix = "HEADRACE_";

struct Environment {
  Options values;     // by variable
  std::string error;  // what is wrong with it, if anything
};

// Leaked on purpose: files may be opened while the process exits.
Environment& environment() {
  static auto* const instance = new Environment;
  return *instance;
}

// Calls `visit` with each part of `text` between separators until it returns true.
template <typename Visit>
bool any_part(std::string_view text, char separator, Visit visit) {
  while (true) {
    const auto end = std::min(text.find(separator), text.size());
    if (visit(text.substr(0, end))) return true;
    if (end == text.size()) return false;
    text.remove_prefix(end + 1);
  }
}

struct Suffix {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array kSizes{Suffix{"", 1},
                            Suffix{"K", 1ULL << 10},
                            Suffix{"KiB", 1ULL << 10},
                            Suffix{"M", 1ULL << 20},
                            Suffix{"MiB", 1ULL << 20},
                            Suffix{"G", 1ULL << 30},
                            Suffix{"GiB", 1ULL << 30},
                            Suffix{"T", 1ULL << 40},
                            Suffix{"TiB", 1ULL << 40}};
constexpr std::array kDurations{Suffix{"", 1}, Suffix{"ns", 1}, Suffix{"us", 1000},
                                Suffix{"ms", 1000000}, Suffix{"s", 1000000000}};

// A whole number and a suffix, multiplied out. False when malformed or past 64 bits.
bool parse_scaled(std::string_view value, std::span<const Suffix> suffixes, std::uint64_t& result) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.begin(), value.end(), number);
  if (code != std::errc() || end == value.begin()) return false;
  const std::string_view rest(end, static_cast<std::size_t>(value.end() - end));
  for (const Suffix& suffix : suffixes) {
    if (rest != suffix.name) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() / suffix.factor) return false;
    result = number * suffix.factor;
    return true;
  }
  return false;
}

// False as well for types that are no numbers.
bool parse_number(Type type, std::string_view value, std::uint64_t& number) {
  switch (type) {
    case Type::integer:
      return parse_scaled(value, std::span(kSizes).first(1), number);
    case Type::size:
      return parse_scaled(value, kSizes, number);
    case Type::duration:
      return parse_scaled(value, kDurations, number);
    default:
      return false;
  }
}

bool valid(const Setting& setting, std::string_view value) {
  std::uint64_t number = 0;
  switch (setting.type) {
    case Type::choice:
      return any_part(setting.choices, '|', [&](auto choice) { return choice == value; });
    case Type::boolean:
      return value == "true" || value == "false" || value == "1" || value == "0";
    case Type::integer:
    case Type::size:
    case Type::duration:
      return parse_number(setting.type, value, number);
    case Type::path:
    case Type::string:
      return true;
  }
  return false;
}

std::string expectation(Type type, std::string_view choices) {
  switch (type) {
    case Type::choice:
      return "one of " + std::string(choices);
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "a whole number, 0 or more";
    case Type::size:
      return "a size such as 4096, 64KiB or 2GiB";
    case Type::duration:
      return "a duration such as 500us, 20ms or 1s";
    default:
      return "text";
  }
}

}  // namespace

std::span<const Setting> global_settings() { return kGlobal; }

std::string_view type_name(Type type) {
  constexpr std::array<std::string_view, 7> kNames{"choice", "path",    "string",  "integer",
                                                   "size",   "boolean", "duration"};
  return kNames.at(static_cast<std::size_t>(type));
}

void check_value(const Setting& setting, std::string_view name, std::string_view value) {
  if (valid(setting, value)) return;
  throw Error("setting " + std::string(name) + ": '" + std::string(value) + "' is not " +
              expectation(setting.type, setting.choices));
}

std::uint64_t number_of(Type type, std::string_view name, std::string_view value) {
  std::uint64_t number = 0;
  if (parse_number(type, value, number)) return number;
  throw Error(std::string(name) + ": '" + std::string(value) + "' is not " + expectation(type, {}));
}

std::string value_of(const Setting& setting, const Options& options) {
  if (auto given = options.find(setting.option); given != options.end()) {
    check_value(setting, setting.option, given->second);
    return given->second;
  }
  const auto env = environment().values.find(setting.env);
  if (env == environment().values.end()) return std::string(setting.fallback);
  check_value(setting, setting.env, env->second);
  return env->second;
}

namespace {

// Throws Error for an option that a layer reads and has no row for.
const Setting& setting_called(std::span<const Setting> settings, std::string_view option) {
  const auto found = std::ranges::find(settings, option, &Setting::option);
  if (found == settings.end()) throw Error("no setting is called " + std::string(option));
  return *found;
}

}  // namespace

std::string value_of(std::span<const Setting> settings, std::string_view option,
                     const Options& options) {
  return value_of(setting_called(settings, option), options);
}

std::uint64_t number_of(std::span<const Setting> settings, std::string_view option,
                        const Options& options) {
  const Setting& setting = setting_called(settings, option);
  return number_of(setting.type, option, value_of(setting, options));
}

bool is_on(std::span<const Setting> settings, std::string_view option, const Options& options) {
  const std::string value = value_of(settings, option, options);
  return value == "true" || value == "1";
}

namespace {

// Only the core knows all HEADRACE_* names; the settings of a module outside it are called
// differently.
bool is_core(std::span<const std::span<const Setting>> tables) {
  return std::ranges::any_of(tables, [](auto table) {
    return table.data() != kGlobal.data() && !table.empty() &&
           table.front().env.starts_with(kPrefix);
  });
}

// Keeps the values of all settings, then throws for the first variable that is wrong.
void parse_environment(std::span<const std::span<const Setting>> tables) {
  for (auto table : tables)
    for (const Setting& setting : table)
      if (const char* value = std::getenv(std::string(setting.env).c_str()); value != nullptr)
        environment().values.emplace(setting.env, value);
  const bool core = is_core(tables);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const auto name = line.substr(0, std::min(line.find('='), line.size()));
    const auto value = line.substr(std::min(name.size() + 1, line.size()));
    const Setting* row = nullptr;
    for (auto table : tables) {
      const auto found = std::ranges::find(table, name, &Setting::env);
      if (found != table.end()) row = &*found;
    }
    if (row != nullptr)
      check_value(*row, name, value);
    else if (core && name.starts_with(kPrefix))
      throw Error("setting " + std::string(name) +
                  " in the environment: there is no such setting; "
                  "`headrace settings` lists them");
  }
}

}  // namespace

void read_environment(std::span<const std::span<const Setting>> tables) {
  environment() = {};
  try {
    parse_environment(tables);
  } catch (const Error& error) {
    environment().error = error.what();
  }
}

void require_environment() {
  if (!environment().error.empty()) throw Error(environment().error);
}

}  // namespace headrace
