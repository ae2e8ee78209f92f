// One row per setting. The option parser, `headrace settings`, docs/settings/ and headrace.settings
// in Python all come from these rows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

enum class Type { choice, path, string, integer, size, boolean, duration };

struct Setting {
  std::string_view option;  // name in `layer(option=value)`, in a connection string, in TOML
  std::string_view env;     // environment variable
  Type type;
  std::string_view choices;   // of a choice: "vol|vfd|both"
  std::string_view unit;      // for people: "bytes", "" when there is none
  std::string_view fallback;  // the default, as text
  std::string_view meaning;   // one sentence
};

using Options = std::map<std::string, std::string, std::less<>>;

// Settings of no layer: environment or configuration file only.
std::span<const Setting> global_settings();

std::string_view type_name(Type type);

// Throws Error naming `name` (the variable or option) unless `value` is one of the setting's type.
void check_value(const Setting& setting, std::string_view name, std::string_view value);

// The number that such a value of type integer, size (bytes) or duration (nanoseconds) means.
// Throws Error naming `name` when it means none.
std::uint64_t number_of(Type type, std::string_view name, std::string_view value);

// The value of a setting: from the given options, else from the environment as it was when the
// module was loaded, else the default; checked.
std::string value_of(const Setting& setting, const Options& options);

// The same for the setting with that option, which is one of `settings`; and its number.
std::string value_of(std::span<const Setting> settings, std::string_view option,
                     const Options& options);
std::uint64_t number_of(std::span<const Setting> settings, std::string_view option,
                        const Options& options);
// The same for one of type boolean.
bool is_on(std::span<const Setting> settings, std::string_view option, const Options& options);

// Reads the environment, once, when the module is loaded: keeps the values of the rows of `tables`
// for value_of(), and looks for malformed values of theirs and, in the core, for HEADRACE_*
// variables that no row names. Failing there would crash programs that do not expect it, so the
// finding is kept for require_environment().
void read_environment(std::span<const std::span<const Setting>> tables);

// Throws Error with what read_environment() found. Called by every file open and create.
void require_environment();

}  // namespace headrace
