// What the INI file and the command line of iotest say, and the cases that follow.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/iotest/parameters.hpp"

namespace headrace::bench::iotest {

struct Key {
  std::string_view name;
  std::string_view absent;   // the value when the key is not given; empty: see the meaning
  std::string_view choices;  // separated by commas; empty: any
  std::string_view meaning;
};

// All keys of the INI file, each of which is an option too.
std::span<const Key> keys();

class Settings {
 public:
  // Overrides what was set before. `origin` is what a message begins with: "my.ini:3", "--steps".
  void set(const std::string& key, const std::string& value, const std::string& origin);
  // Sets all that the INI file says. Throws Error for what it cannot read, and unknown keys.
  void read(const std::string& ini);

  // The cases, in the order of the original's loops. Throws Error that tells the key, where it
  // stands, and what is allowed. A libhdf5 is loaded already.
  [[nodiscard]] std::vector<Parameters> cases(int ranks) const;

 private:
  struct Value {
    std::string text;
    std::string origin;
  };

  [[nodiscard]] bool given(std::string_view key) const;
  // Whether one or more values are named, rather than none or all.
  [[nodiscard]] bool named(std::string_view key) const;
  [[noreturn]] void complain(std::string_view key, const std::string& why) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  // The values of a list, each one a choice of the key.
  [[nodiscard]] std::vector<std::string> values(std::string_view key) const;
  [[nodiscard]] std::string value(std::string_view key) const;
  [[nodiscard]] bool truth(std::string_view key) const;
  [[nodiscard]] std::uint64_t number_of(std::string_view key, const std::string& text,
                                        std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] std::uint64_t number(std::string_view key, std::uint64_t least) const;
  [[nodiscard]] std::chrono::nanoseconds duration(std::string_view key) const;

  [[nodiscard]] Parameters common(std::uint64_t ranks) const;
  void set_grid(Parameters& p, std::uint64_t ranks) const;
  void set_szip(Parameters& p) const;
  void check_sizes(const Parameters& p) const;
  void check_compression(std::uint64_t ranks) const;
  void check_bounds(const Parameters& p) const;
  void check_split(const Parameters& p) const;
  // Why the library cannot write with these bounds; empty when it can.
  [[nodiscard]] static std::string wrong_bounds(const Parameters& p);
  [[nodiscard]] std::vector<Parameters> spanned(const Parameters& base) const;
  // Without combinations that nobody named, and that make no sense or cannot be; each once.
  [[nodiscard]] std::vector<Parameters> possible(const std::vector<Parameters>& all) const;
  [[nodiscard]] bool wanted(const Parameters& p) const;
  // Each of `all` once per value of the key.
  template <typename Set>
  void span(std::vector<Parameters>& all, std::string_view key, const Set& set) const;
  template <typename Set>
  void span_numbers(std::vector<Parameters>& all, std::string_view key, std::uint64_t least,
                    const Set& set) const;
  void finish(std::vector<Parameters>& all) const;

  std::map<std::string, Value, std::less<>> given_;
};

}  // namespace headrace::bench::iotest
