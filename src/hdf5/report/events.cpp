#include "hdf5/report/events.hpp"

#include <unistd.h>

#include "base/report/json.hpp"
#include "base/report/log.hpp"
#include "hdf5/api.hpp"

namespace headrace {
namespace {

JsonObject line(std::string_view event, Seat seat, std::string_view name) {
  JsonObject object;
  object.text("event", event)
      .text("seat", seat == Seat::vol ? "vol" : "vfd")
      .text("name", name)
      .number("pid", ::getpid());
  return object;
}

}  // namespace

void report_load(Seat seat, std::string_view name) {
  if (!report_wanted()) return;
  report(line("load", seat, name)
             .text("hdf5", library.path)
             .text("version", library.version)
             .boolean("parallel", library.parallel)
             .boolean("threadsafe", library.thread_safe)
             .str());
}

void report_refusal(std::string_view why) {
  const std::string line = JsonObject()
                               .text("event", "refused")
                               .number("pid", ::getpid())
                               .text("hdf5", library.path)
                               .text("version", library.version)
                               .text("why", why)
                               .str();
  report(line);
  summarise(line);
}

void report_file(Seat seat, std::string_view name, std::string_view call, const char* file, bool ok,
                 const std::optional<Rank>& place) {
  if (!report_wanted()) return;
  JsonObject event = line("file", seat, name);
  event.text("call", call).text("file", file == nullptr ? "" : file).boolean("ok", ok);
  if (place) event.number("rank", place->rank).number("ranks", place->ranks);
  report(event.str());
}

void report_counts(Seat seat, std::string_view name, std::span<const char* const> names,
                   std::span<std::atomic<std::uint64_t>> counts) {
  JsonObject calls;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t count = counts[i].exchange(0);
    if (count != 0) calls.number(names[i], static_cast<long long>(count));
  }
  if (report_wanted()) report(line("counts", seat, name).raw("calls", calls.str()).str());
}

void report_statistics(Seat seat, std::string_view name, std::string_view file,
                       std::span<const std::pair<std::string_view, std::uint64_t>> values,
                       std::string_view dataset) {
  if (!report_wanted()) return;
  JsonObject fields;
  for (const auto& [key, value] : values)
    if (value != 0) fields.number(key, static_cast<long long>(value));
  JsonObject event = line("statistics", seat, name);
  event.text("file", file);
  if (!dataset.empty()) event.text("dataset", dataset);
  report(event.raw("values", fields.str()).str());
}

void report_unverified(Seat seat, std::string_view name, std::string_view file,
                       std::string_view dataset, std::string_view filter) {
  if (!report_wanted()) return;
  report(line("unverified", seat, name)
             .text("file", file)
             .text("dataset", dataset)
             .text("filter", filter)
             .str());
}

void report_replayed(Seat seat, std::string_view name, std::string_view file,
                     std::string_view dataset) {
  if (!report_wanted()) return;
  report(line("replayed", seat, name).text("file", file).text("dataset", dataset).str());
}

}  // namespace headrace
