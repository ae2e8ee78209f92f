// headrace-model: what a program's ledgers would take on a parallel file system.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "base/settings/settings.hpp"
#include "model/quantity.hpp"
#include "output.hpp"

namespace {

using namespace headrace;
using namespace headrace::model;

struct Arguments {
  bool json = false;
  std::string json_file;
  std::vector<std::string> ledgers;
  std::string preset = "lustre-4";
  std::vector<std::uint32_t> ranks{1};
  std::string placement = "append";
  bool independent = false;
  std::map<std::string, std::string> numbers;  // that replace the preset's
  std::string directory;
  std::string cache = "cached";
};

// Warns of ledgers whose end is missing.
std::vector<Ledger> read_all(const std::vector<std::string>& paths) {
  std::vector<Ledger> ledgers;
  for (const std::string& path : paths) {
    ledgers.push_back(read_ledger(path));
    if (!ledgers.back().closed)
      std::cerr << "warning: ledger " << path << ": the process was killed; its last requests are "
                << "missing\n";
  }
  return ledgers;
}

double rate(const std::string& name, const std::string& text) {
  return static_cast<double>(number_of(Type::size, name, text));
}

Parameters parameters_of(const Arguments& arguments) {
  Parameters parameters = preset(arguments.preset).parameters;
  for (const auto& [name, text] : arguments.numbers) {
    if (text.empty()) continue;
    if (name == "--servers")
      parameters.servers = static_cast<std::uint32_t>(std::min(rate(name, text), 1e6));
    else if (name == "--stripe-count")
      parameters.stripe_count = static_cast<std::uint32_t>(std::min(rate(name, text), 1e6));
    else if (name == "--stripe-size")
      parameters.stripe_size = number_of(Type::size, name, text);
    else if (name == "--latency")
      parameters.latency = parameters.read_latency = parse_duration(name, text);
    else if (name == "--bandwidth")
      parameters.bandwidth = parameters.read_bandwidth = rate(name, text);
    else if (name == "--client-bandwidth")
      parameters.client_bandwidth = rate(name, text);
    else
      parameters.revocation = parse_duration(name, text);
  }
  check(parameters);
  return parameters;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << '\n';
  file.close();
  if (!file) throw Error(path + ": " + std::strerror(errno), errno);
}

void replay(const Arguments& arguments) {
  const Workload workload = workload_of(read_all(arguments.ledgers));
  const Parameters parameters = parameters_of(arguments);
  std::vector<Result> results;
  for (const std::uint32_t ranks : arguments.ranks) {
    const Placement placement =
        arguments.placement == "append" ? Placement::append : Placement::interleave;
    results.push_back(simulate(workload, parameters, {ranks, placement, !arguments.independent}));
  }
  if (!arguments.json_file.empty())
    write_file(arguments.json_file, results_json(arguments.preset, parameters, results));
  std::cout << results_table(arguments.preset, parameters, results);
}

Cache cache_of(const Arguments& arguments) {
  return arguments.cache == "cached" ? Cache::cached : Cache::sync;
}

void measure_disk(const Arguments& arguments) {
  const Disk disk = measure(arguments.directory, cache_of(arguments));
  if (arguments.json)
    std::cout << disk_json(arguments.directory, disk, cache_of(arguments)) << '\n';
  else
    std::cout << disk_table(disk, cache_of(arguments));
}

// Each ledger on its own, by one process as it was recorded.
void validate(const Arguments& arguments) {
  const Cache cache = cache_of(arguments);
  const std::vector<Ledger> ledgers = read_all(arguments.ledgers);
  const Disk disk = measure(arguments.directory, cache);
  std::vector<Validation> validations;
  for (std::size_t i = 0; i < ledgers.size(); ++i) {
    const Result predicted = simulate(workload_of({ledgers[i]}), disk.parameters(), {});
    // The fastest of five, as measure() does it: other work of the machine can only add.
    double seconds = play(ledgers[i], arguments.directory, cache);
    for (int again = 0; again < 4; ++again)
      seconds = std::min(seconds, play(ledgers[i], arguments.directory, cache));
    validations.push_back(
        {arguments.ledgers[i], predicted.requests, predicted.bytes, predicted.seconds, seconds});
  }
  if (arguments.json)
    std::cout << validation_json(arguments.directory, disk, cache, validations) << '\n';
  else
    std::cout << disk_table(disk, cache) << '\n' << validation_table(validations);
}

void add_replay(CLI::App& app, Arguments& arguments) {
  CLI::App* command = app.add_subcommand("replay", "Play ledgers by many clients");
  command->add_option("ledgers", arguments.ledgers, "Files that the model layer wrote")
      ->required()
      ->type_name("LEDGER");
  command->add_option("--preset", arguments.preset, "File system; see `headrace-model presets`")
      ->capture_default_str();
  command->add_option("--ranks", arguments.ranks, "Numbers of clients: 1,100,10000")
      ->check(CLI::Range(1, 10'000'000))
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--placement", arguments.placement, "Where further clients put their data")
      ->check(CLI::IsMember({"append", "interleave"}))
      ->capture_default_str();
  command->add_flag("--independent", arguments.independent,
                    "Play collective requests as if each rank made them alone");
  for (const char* name : {"--servers", "--stripe-count", "--stripe-size", "--latency",
                           "--bandwidth", "--client-bandwidth", "--revocation"})
    command->add_option(name, arguments.numbers[name], "In place of the preset's");
  command->add_option("--json", arguments.json_file, "Also write the results here");
  command->callback([&] { replay(arguments); });
}

void add_disk_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--cache", arguments.cache, "Through the page cache, or with it kept out")
      ->check(CLI::IsMember({"cached", "sync"}))
      ->capture_default_str();
  command.add_flag("--json", arguments.json, "JSON in place of a table");
}

void add_commands(CLI::App& app, Arguments& arguments) {
  CLI::App* command = app.add_subcommand("presets", "The file systems there are, and why");
  command->add_flag("--json", arguments.json, "JSON in place of a table");
  command->callback(
      [&] { std::cout << (arguments.json ? presets_json() + '\n' : presets_table()); });
  add_replay(app, arguments);
  command = app.add_subcommand("measure", "Latency and bandwidth of a real folder");
  command->add_option("directory", arguments.directory)->required()->type_name("DIR");
  add_disk_options(*command, arguments);
  command->callback([&] { measure_disk(arguments); });
  command = app.add_subcommand("validate", "Replay ledgers on a real folder, and compare");
  command->add_option("ledgers", arguments.ledgers)->required()->type_name("LEDGER");
  command->add_option("--dir", arguments.directory, "Folder for the scratch file")->required();
  add_disk_options(*command, arguments);
  command->callback([&] { validate(arguments); });
}

int run(int argc, char** argv) {
  CLI::App app("What a program's requests would take on a parallel file system.");
  Arguments arguments;
  app.require_subcommand(1);
  add_commands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-model: %s\n", error.what());
    return 1;
  }
}
