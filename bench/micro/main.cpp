// Benchmark kernel: a plain HDF5 program that times operations in batches and verifies their
// effect. It knows nothing of Headrace; bench/micro/run.py starts it with and without.
//
//   headrace_micro FOLDER BATCHES NAME=CALLS/LIMIT...
//
// makes a file in FOLDER and runs, for each NAME, BATCHES batches of CALLS calls that are prepared
// for LIMIT calls. Prints a JSON object: the nanoseconds per operation of each batch, and what the
// process turned out to run on.
#include <link.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

#include "operation.hpp"

namespace micro {
namespace {

struct Request {
  const Operation* operation;
  int calls;
  int limit;
};

const Operation& operation_named(std::string_view name) {
  for (auto operations : {file_operations(), object_operations()}) {
    const auto found = std::ranges::find(operations, name, &Operation::name);
    if (found != operations.end()) return *found;
  }
  throw std::runtime_error("no operation is called '" + std::string(name) + "'");
}

int number(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), value);
  if (code != std::errc() || end != text.end() || value <= 0)
    throw std::runtime_error("'" + std::string(text) + "' is no count");
  return value;
}

Request parse(std::string_view text) {
  const auto equals = text.rfind('=');
  const auto slash = text.rfind('/');
  if (equals == std::string_view::npos || slash == std::string_view::npos || slash < equals)
    throw std::runtime_error("'" + std::string(text) + "' is not NAME=CALLS/LIMIT");
  return {&operation_named(text.substr(0, equals)),
          number(text.substr(equals + 1, slash - equals - 1)), number(text.substr(slash + 1))};
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

// Nanoseconds per operation.
double run_batch(const Request& request, const Place& place) {
  using Clock = std::chrono::steady_clock;
  const auto batch = request.operation->prepare(place);
  const auto start = Clock::now();
  for (int call = 0; call < request.calls; ++call) batch->run(call);
  const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
  batch->verify(request.calls);
  return elapsed.count() / request.calls / request.operation->units;
}

std::string run_request(const Request& request, const std::string& folder, hid_t file,
                        int batches) {
  std::string times;
  for (int batch = 0; batch < batches; ++batch) {
    const std::string name = std::string(request.operation->name) + " " + std::to_string(batch);
    const Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Gclose);
    const double nanoseconds = run_batch(request, {folder, group, request.limit});
    times += batch == 0 ? "" : ", ";
    times += std::to_string(nanoseconds);
  }
  return quoted(request.operation->name) + ": [" + times + "]";
}

int add_library(dl_phdr_info* info, std::size_t /*size*/, void* list) {
  const std::string path(info->dlpi_name);
  const std::string name = path.substr(path.rfind('/') + 1);
  auto& text = *static_cast<std::string*>(list);
  if (!name.empty()) text.append(text.empty() ? "" : ", ").append(quoted(name));
  return 0;
}

// What this process runs on: version, connector of the file and libraries.
std::string surroundings(hid_t file) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  check(H5get_libversion(&major, &minor, &release));
  std::array<char, 64> connector{};
  check(H5VLget_connector_name(file, connector.data(), connector.size()));
  std::string libraries;
  dl_iterate_phdr(&add_library, &libraries);
  std::string version = std::to_string(major);
  for (const unsigned part : {minor, release}) version.append(".").append(std::to_string(part));
  return quoted("hdf5") + ": " + quoted(version) + ", " + quoted("connector") + ": " +
         quoted(connector.data()) + ", " + quoted("libraries") + ": [" + libraries + "]";
}

void run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3)
    throw std::runtime_error("usage: headrace_micro FOLDER BATCHES NAME=CALLS/LIMIT...");
  const std::string& folder = arguments[0];
  const Handle file(
      H5Fcreate((folder + "/micro.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  std::string results;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    results += results.empty() ? "" : ", ";
    results += run_request(parse(arguments[i]), folder, file, number(arguments[1]));
  }
  std::printf("{%s, %s: {%s}}\n", surroundings(file).c_str(), quoted("nanoseconds").c_str(),
              results.c_str());
}

}  // namespace
}  // namespace micro

int main(int argc, char** argv) {
  try {
    micro::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace_micro: %s\n", error.what());
    return 1;
  }
}
