#include "kernels/iotest/settings.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "kernels/iotest/csv.hpp"
#include "kernels/iotest/ini.hpp"

namespace headrace::bench::iotest {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;

const Key* find(std::string_view name) {
  const auto all = keys();
  const auto found = std::ranges::find(all, name, &Key::name);
  return found == all.end() ? nullptr : &*found;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::vector<std::string> parts(std::string_view text) {
  std::vector<std::string> all;
  for (std::size_t at = 0;;) {
    const std::size_t comma = text.find(',', at);
    all.push_back(trimmed(text.substr(at, comma - at)));
    if (comma == std::string_view::npos) return all;
    at = comma + 1;
  }
}

// The factor of a binary suffix; 0 when it is none.
std::uint64_t factor(std::string_view suffix) {
  constexpr std::string_view kLetters = "kmg";
  if (suffix.empty()) return 1;
  const auto power = kLetters.find(static_cast<char>(suffix[0] | 0x20));
  const std::string_view rest = suffix.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "i" || rest == "iB")) return 0;
  return std::uint64_t{1} << (10 * (power + 1));
}

std::string all_keys() {
  std::string text;
  for (const Key& key : keys()) text += (text.empty() ? "" : ", ") + std::string(key.name);
  return text;
}

}  // namespace

void Settings::set(const std::string& key, const std::string& value, const std::string& origin) {
  if (find(key) == nullptr)
    throw Error(origin + ": there is no key " + key + "; the keys are " + all_keys());
  given_[key] = {value, origin};
}

void Settings::read(const std::string& ini) {
  for (const IniEntry& entry : read_ini(ini)) set(entry.key, entry.value, entry.where);
}

bool Settings::given(std::string_view key) const { return given_.contains(key); }

bool Settings::named(std::string_view key) const { return given(key) && text(key) != "all"; }

void Settings::complain(std::string_view key, const std::string& why) const {
  const auto found = given_.find(key);
  const std::string name(key);
  if (found == given_.end()) throw Error("iotest: " + name + ": " + why);
  throw Error(found->second.origin + ": " + name + " = " + found->second.text + ": " + why);
}

std::string Settings::text(std::string_view key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? std::string(find(key)->absent) : trimmed(found->second.text);
}

std::vector<std::string> Settings::values(std::string_view key) const {
  const auto choices = find(key)->choices;
  auto allowed = parts(choices);
  if (!choices.empty() && text(key) == "all") return allowed;
  auto all = parts(text(key));
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (std::find(all.begin(), each, *each) != each) complain(key, *each + " is there twice");
    if (!choices.empty() && std::ranges::find(allowed, *each) == allowed.end())
      complain(key, "allowed are all, or one or more of " + std::string(choices));
  }
  return all;
}

std::string Settings::value(std::string_view key) const {
  const auto all = values(key);
  if (all.size() != 1) complain(key, "allowed is one of " + std::string(find(key)->choices));
  return all.front();
}

bool Settings::truth(std::string_view key) const { return value(key) == "1"; }

std::uint64_t Settings::number_of(std::string_view key, const std::string& text,
                                  std::uint64_t least, std::uint64_t most) const {
  std::uint64_t found = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, found);
  const std::uint64_t times = error == std::errc() ? factor({rest, end}) : 0;
  std::uint64_t product = 0;
  if (times == 0 || __builtin_mul_overflow(found, times, &product) || product < least ||
      product > most)
    complain(key, "allowed are whole numbers from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", also with Ki, Mi or Gi");
  return product;
}

std::uint64_t Settings::number(std::string_view key, std::uint64_t least) const {
  return number_of(key, text(key), least, kMost);
}

std::chrono::nanoseconds Settings::duration(std::string_view key) const {
  constexpr double kLongest = 86400;
  const std::string given = text(key);
  double count = 0;
  const char* end = given.data() + given.size();
  const auto [rest, error] = std::from_chars(given.data(), end, count);
  const std::string unit = trimmed({rest, end});
  const std::map<std::string, double> units{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}};
  const auto found = units.find(unit);
  const double seconds = found == units.end() ? -1 : count * found->second;
  const bool fits = seconds >= 0 && seconds <= kLongest;  // which a NaN does not
  if (error != std::errc() || !fits)
    complain(key, "allowed are times up to a day, as 20ms, with us, ms, s or min");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

std::vector<Parameters> Settings::cases(int ranks) const {
  const Parameters base = common(static_cast<std::uint64_t>(ranks));
  check_compression(base.ranks());
  if (!base.csv.empty()) check_csv(base.csv);
  std::vector<Parameters> all = spanned(base);
  for (const Parameters& each : all) {
    check_sizes(each);
    check_bounds(each);
    check_split(each);
  }
  finish(all);
  return all;
}

void Settings::finish(std::vector<Parameters>& all) const {
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].number = i + 1;
    std::string number = std::to_string(i + 1);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
    for (auto at = all[i].hdf5_file.find('#'); at != std::string::npos;
         at = all[i].hdf5_file.find('#'))
      all[i].hdf5_file.replace(at, 1, number);
  }
  const std::uint64_t only = number("one-case", 0);
  if (only == 0) return;
  if (only > all.size()) complain("one-case", "there are " + std::to_string(all.size()) + " cases");
  all = {all[only - 1]};
}

}  // namespace headrace::bench::iotest
