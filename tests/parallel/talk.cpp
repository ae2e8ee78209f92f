// A connector for tests: when a file is created, its ranks talk over the communicator of the
// access property list, and each appends what it heard to the report.
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/report/json.hpp"
#include "base/report/log.hpp"
#include "comm/communicator.hpp"
#include "plugin/layer_entry.hpp"

namespace {

using headrace::Communicator;
using headrace::JsonObject;
using headrace::Reduction;

// What the call throws; empty when it does not.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const headrace::Error& error) {
    return error.what();
  }
  return {};
}

std::string gathered(Communicator& ranks) {
  const std::array<int, 2> mine{ranks.rank(), ranks.rank() * ranks.rank()};
  std::vector<std::array<int, 2>> all(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  std::string list;
  for (const auto& [rank, square] : all)
    list += std::to_string(rank) + ':' + std::to_string(square) + ' ';
  return list;
}

// Of each rank as many bytes as its number, all of which are that number.
std::string gathered_any(Communicator& ranks) {
  const auto rank = static_cast<std::size_t>(ranks.rank());
  std::string list;
  for (const auto& one : ranks.all_gather_any(std::vector(rank, std::byte(rank)))) {
    list += std::to_string(one.size());
    for (const std::byte byte : one) list += ':' + std::to_string(std::to_integer<int>(byte));
    list += ' ';
  }
  return list;
}

std::string heard_from(Communicator& ranks, int root) {
  std::string text = "from " + std::to_string(ranks.rank());
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

// More than one MPI call can count. Memory that nobody touches costs nothing, so one rank only.
std::string send_three_gib(Communicator& ranks) {
  constexpr std::size_t kSize = 3UL << 30U;
  if (ranks.size() > 1) return {};
  const std::unique_ptr<std::byte[]> bytes(new std::byte[kSize]);
  return error_of([&] { ranks.broadcast({bytes.get(), kSize}, 0); });
}

// True when what the slow rank 0 did before the barrier had been done when this rank came out.
bool barrier_waits(Communicator& ranks, const std::string& flag) {
  ranks.barrier();
  if (ranks.rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::ofstream(flag) << "done";
  }
  ranks.barrier();
  return ::access(flag.c_str(), F_OK) == 0;
}

void talk(Communicator& ranks, const std::string& file) {
  const std::int64_t big = std::int64_t{1} << 40U;
  const std::int64_t mine = big + ranks.rank();
  std::vector<std::byte> three(3);
  headrace::report(JsonObject()
                       .text("event", "talk")
                       .number("pid", ::getpid())
                       .number("rank", ranks.rank())
                       .number("ranks", ranks.size())
                       .text("gathered", gathered(ranks))
                       .text("gathered_any", gathered_any(ranks))
                       .text("first", heard_from(ranks, 0))
                       .text("last", heard_from(ranks, ranks.size() - 1))
                       .number("sum", ranks.reduce(mine, Reduction::sum) - big * ranks.size())
                       .number("max", ranks.reduce(mine, Reduction::max) - big)
                       .number("min", ranks.reduce(mine, Reduction::min) - big)
                       .boolean("barrier", barrier_waits(ranks, file + ".flag"))
                       .text("three_gib", send_three_gib(ranks))
                       .text("bad_root", error_of([&] { heard_from(ranks, ranks.size()); }))
                       .text("bad_size", error_of([&] { ranks.all_gather(three, {}); }))
                       .str());
}

struct Connector : headrace::vol::PassThrough<Connector> {
  static constexpr const char* kName = "headrace_talk";
  static constexpr H5VL_class_value_t kValue = 7291;
  static constexpr std::array kOverrides{headrace::vol::Callback::file_create};

  static void* file_create(const char* name, unsigned flags, hid_t fcpl, hid_t fapl, hid_t dxpl,
                           void** req) {
    talk(*headrace::communicator_of(fapl), name);
    return PassThrough::file_create(name, flags, fcpl, fapl, dxpl, req);
  }
};

}  // namespace

std::span<const headrace::LayerEntry> headrace::layers() {
  static const std::array kLayers{LayerEntry{"talk",
                                             "the ranks that create a file talk; for tests",
                                             {},
                                             connector<Connector>("libheadrace_talk.so"),
                                             {},
                                             {}}};
  return kLayers;
}
