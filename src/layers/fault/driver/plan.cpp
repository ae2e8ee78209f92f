#include "layers/fault/driver/plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "layers/fault/settings.hpp"

namespace headrace::fault {
namespace {

constexpr std::array<std::string_view, 8> kOps{"any",      "read", "write", "flush",
                                               "truncate", "open", "close", "delete"};
constexpr std::array<std::string_view, 3> kData{"any", "metadata", "raw"};
constexpr std::array<std::string_view, 5> kKinds{"none", "error", "short", "delay", "power_cut"};
constexpr std::array<std::string_view, 5> kOutcomes{"kept", "lost", "torn", "reordered", "mixed"};

struct ErrorName {
  std::string_view name;
  int number;
};
constexpr std::array kErrors{ErrorName{"EIO", EIO},
                             ErrorName{"ENOSPC", ENOSPC},
                             ErrorName{"EDQUOT", EDQUOT},
                             ErrorName{"EFBIG", EFBIG},
                             ErrorName{"EACCES", EACCES},
                             ErrorName{"EPERM", EPERM},
                             ErrorName{"EROFS", EROFS},
                             ErrorName{"ENOENT", ENOENT},
                             ErrorName{"EEXIST", EEXIST},
                             ErrorName{"EBUSY", EBUSY},
                             ErrorName{"EAGAIN", EAGAIN},
                             ErrorName{"EINTR", EINTR},
                             ErrorName{"ENOMEM", ENOMEM},
                             ErrorName{"ENXIO", ENXIO},
                             ErrorName{"EMFILE", EMFILE},
                             ErrorName{"ESTALE", ESTALE},
                             ErrorName{"EBADF", EBADF},
                             ErrorName{"EINVAL", EINVAL},
                             ErrorName{"ETIMEDOUT", ETIMEDOUT}};

std::string text(std::string_view option, const Options& options) {
  return value_of(kSettings, option, options);
}

template <typename Enum, std::size_t n>
Enum choice(const std::array<std::string_view, n>& names, std::string_view option,
            const Options& options) {
  return static_cast<Enum>(std::ranges::find(names, text(option, options)) - names.begin());
}

std::uint64_t number(std::string_view option, const Options& options, std::uint64_t least,
                     std::uint64_t most) {
  const std::uint64_t found = number_of(kSettings, option, options);
  if (found >= least && found <= most) return found;
  throw Error("setting " + std::string(option) + " of layer fault: " + std::to_string(found) +
              " is not from " + std::to_string(least) + " to " + std::to_string(most));
}

std::optional<int> rank(const Options& options) {
  const std::string value = text("rank", options);
  if (value == "all") return std::nullopt;
  int rank = 0;
  const char* const stop = value.data() + value.size();
  const auto [end, code] = std::from_chars(value.data(), stop, rank);
  if (code == std::errc() && end == stop && rank >= 0) return rank;
  throw Error("setting rank of layer fault: '" + value + "' is neither a rank nor all");
}

// A journal that cannot be written would make tests believe that no fault came.
std::string writable(const std::string& file) {
  const std::string path = std::filesystem::absolute(file);
  if (!std::ofstream(path, std::ios::app))
    throw Error("setting journal of layer fault: " + path + ": " + std::strerror(errno), errno);
  return path;
}

}  // namespace

std::string_view name_of(Op op) { return kOps.at(static_cast<std::size_t>(op)); }

Plan::Plan(const Options& options)
    : kind(choice<Kind>(kKinds, "kind", options)),
      outcome(choice<Outcome>(kOutcomes, "outcome", options)),
      sync_at_flush(text("sync", options) != "none"),
      sync_at_close(text("sync", options) == "close"),
      exits(text("then", options) == "exit"),
      error_name(text("errno", options)),
      delay(number_of(kSettings, "delay", options)),
      seed(number("seed", options, 0, UINT64_MAX)),
      journal(text("journal", options)),
      op_(choice<Op>(kOps, "op", options)),
      data_(choice<Data>(kData, "type", options)),
      pattern_(text("file", options)),
      rank_(rank(options)),
      first_(number("first", options, 1, UINT64_MAX)),
      limit_(number("count", options, 0, UINT64_MAX)),
      per_million_(number("probability", options, 0, 1000000)),
      percent_(number("part", options, 0, 99)) {
  error_number = std::ranges::find(kErrors, error_name, &ErrorName::name)->number;
  const bool transfers = op_ == Op::any || op_ == Op::read || op_ == Op::write;
  if (!transfers && (kind == Kind::short_transfer || data_ != Data::any))
    throw Error("layer fault: op=" + std::string(name_of(op_)) +
                " transfers nothing: it goes with neither kind=short nor a type");
  if (!journal.empty()) journal = writable(journal);
}

bool Plan::matches(const Operation& operation) const {
  if (kind == Kind::none || (op_ != Op::any && op_ != operation.op)) return false;
  const bool transfer = operation.op == Op::read || operation.op == Op::write;
  if (kind == Kind::short_transfer && !transfer) return false;
  if (data_ != Data::any && data_ != operation.data) return false;
  if (rank_ && operation.rank != kEveryRank && *rank_ != operation.rank) return false;
  if (pattern_.empty()) return true;
  const bool whole_path = pattern_.find('/') != std::string::npos;
  const std::size_t folder = whole_path ? 0 : operation.file.rfind('/') + 1;
  const std::string name(operation.file.substr(folder));
  return fnmatch(pattern_.c_str(), name.c_str(), 0) == 0;
}

bool Plan::chosen(std::uint64_t number) const {
  if (per_million_ == 0) return true;
  // One generator a number, so that a decision depends on nothing that came before.
  Random random(Random(seed).next() ^ number);
  return random.below(1000000) < per_million_;
}

std::optional<std::uint64_t> Plan::hit(const Operation& operation) {
  if (!matches(operation)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  ++matched_;
  if (matched_ < first_ || (limit_ != 0 && hits_ >= limit_) || !chosen(matched_))
    return std::nullopt;
  ++hits_;
  return matched_;
}

std::uint64_t Plan::part_of(const Operation& operation) const {
  // Split, because the length times 99 may not fit.
  const std::uint64_t length = operation.length;
  const std::uint64_t most = length / 100 * percent_ + length % 100 * percent_ / 100;
  if (operation.pieces.empty()) return most;
  std::uint64_t whole = 0;
  for (const std::uint64_t piece : operation.pieces) {
    if (whole + piece > most) break;
    whole += piece;
  }
  return whole;
}

}  // namespace headrace::fault
