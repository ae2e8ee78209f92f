#include "output.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/report/json.hpp"
#include "model/quantity.hpp"

namespace headrace::model {
namespace {

std::string percent(double part) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * part);
  return text.data();
}

std::string rate(double bytes) { return bytes > 0 ? show_bytes(bytes) + "/s" : "no limit"; }

template <typename Range, typename ToJson>
std::string json_array(const Range& range, ToJson to_json) {
  std::string array;
  for (const auto& each : range) array.append(1, array.empty() ? '[' : ',').append(to_json(each));
  return array.empty() ? "[]" : array + ']';
}

std::string json_of(const Line& line) {
  return JsonObject()
      .raw("latency", json_number(line.latency))
      .raw("bandwidth", json_number(line.bandwidth))
      .str();
}

std::string_view name_of(Cache cache) { return cache == Cache::cached ? "cached" : "sync"; }

std::string_view what_was_timed(Cache cache) {
  return cache == Cache::cached ? "through the page cache: what a program waits for"
                                : "each write with fdatasync, each read from the disk";
}

std::string line_of(std::string_view what, const Line& line) {
  return std::string(what) + show_seconds(line.latency) + " + bytes / " + rate(line.bandwidth) +
         '\n';
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      text += (i > 0 ? "  " + blanks + row[i] : row[i] + blanks);
    }
    text += '\n';
  }
  return text;
}

std::string presets_table() {
  std::vector<std::vector<std::string>> rows{
      {"preset", "servers", "stripe", "write", "read", "server", "client", "lock"}};
  for (const Preset& each : presets()) {
    const Parameters& p = each.parameters;
    rows.push_back({std::string(each.name), std::to_string(p.servers),
                    show_bytes(static_cast<double>(p.stripe_size)), show_seconds(p.latency),
                    show_seconds(p.read_latency), rate(p.bandwidth), rate(p.client_bandwidth),
                    show_seconds(p.revocation)});
  }
  std::string text = table(rows);
  for (const Preset& each : presets())
    text += '\n' + std::string(each.name) + ": " + std::string(each.what) + ".\n  " +
            std::string(each.source) + ".\n";
  return text;
}

std::string presets_json() {
  return json_array(presets(), [](const Preset& each) {
    return JsonObject()
        .text("preset", each.name)
        .text("what", each.what)
        .raw("parameters", model::json_of(each.parameters))
        .text("source", each.source)
        .str();
  });
}

std::string results_table(std::string_view preset, const Parameters& parameters,
                          std::span<const Result> results) {
  std::vector<std::vector<std::string>> rows{{"ranks", "time", "bytes", "rate", "efficiency",
                                              "requests", "revocations", "busiest server"}};
  bool forgotten = false;
  for (const Result& each : results) {
    const auto bytes = static_cast<double>(each.bytes);
    rows.push_back({std::to_string(each.clients), show_seconds(each.seconds), show_bytes(bytes),
                    each.seconds > 0 ? rate(bytes / each.seconds) : "-", percent(each.efficiency),
                    std::to_string(each.requests), std::to_string(each.revocations),
                    show_seconds(each.busiest_server)});
    forgotten = forgotten || each.forgotten > 0;
  }
  std::string text = std::string(preset) + ": " + std::to_string(parameters.servers) +
                     " servers of " + rate(parameters.bandwidth) + ", stripes of " +
                     show_bytes(static_cast<double>(parameters.stripe_size)) + "\n" + table(rows);
  if (forgotten) text += "Locks were too many to remember: there are more revocations than told.\n";
  return text;
}

std::string results_json(std::string_view preset, const Parameters& parameters,
                         std::span<const Result> results) {
  return JsonObject()
      .text("preset", preset)
      .raw("parameters", model::json_of(parameters))
      .raw("results", json_array(results,
                                 [](const Result& each) {
                                   return JsonObject()
                                       .number("ranks", each.clients)
                                       .raw("seconds", json_number(each.seconds))
                                       .number("bytes", static_cast<long long>(each.bytes))
                                       .raw("efficiency", json_number(each.efficiency))
                                       .number("requests", static_cast<long long>(each.requests))
                                       .number("revocations",
                                               static_cast<long long>(each.revocations))
                                       .raw("busiest_server", json_number(each.busiest_server))
                                       .boolean("locks_forgotten", each.forgotten > 0)
                                       .str();
                                 }))
      .str();
}

std::string disk_table(const Disk& disk, Cache cache) {
  return "timed " + std::string(what_was_timed(cache)) + '\n' + line_of("write  ", disk.write) +
         line_of("read   ", disk.read) + "fsync  " + show_seconds(disk.fsync) + " after 1 MiB\n";
}

std::string disk_json(const std::string& directory, const Disk& disk, Cache cache) {
  return JsonObject()
      .text("directory", directory)
      .text("cache", name_of(cache))
      .raw("write", json_of(disk.write))
      .raw("read", json_of(disk.read))
      .raw("fsync", json_number(disk.fsync))
      .str();
}

std::string validation_table(std::span<const Validation> validations) {
  std::vector<std::vector<std::string>> rows{
      {"ledger", "requests", "bytes", "predicted", "measured", "error"}};
  for (const Validation& each : validations)
    rows.push_back({each.ledger, std::to_string(each.requests),
                    show_bytes(static_cast<double>(each.bytes)), show_seconds(each.predicted),
                    show_seconds(each.measured), percent(each.error())});
  return table(rows);
}

std::string validation_json(const std::string& directory, const Disk& disk, Cache cache,
                            std::span<const Validation> validations) {
  return JsonObject()
      .raw("disk", disk_json(directory, disk, cache))
      .raw("ledgers", json_array(validations,
                                 [](const Validation& each) {
                                   return JsonObject()
                                       .text("ledger", each.ledger)
                                       .number("requests", static_cast<long long>(each.requests))
                                       .number("bytes", static_cast<long long>(each.bytes))
                                       .raw("predicted", json_number(each.predicted))
                                       .raw("measured", json_number(each.measured))
                                       .raw("error", json_number(each.error()))
                                       .str();
                                 }))
      .str();
}

}  // namespace headrace::model
