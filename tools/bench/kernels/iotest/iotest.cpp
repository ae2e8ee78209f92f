// hdf5-iotest's workload: 2-D arrays of doubles, step by step, in a number of HDF5 layouts.
// https://github.com/HDFGroup/hdf5-iotest
#include <CLI/CLI.hpp>

#include "kernels/iotest/settings.hpp"
#include "kernels/iotest/workload.hpp"

namespace headrace::bench {
namespace {

using namespace iotest;

class IotestKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("ini", ini_, "INI file of hdf5-iotest");
    for (const Key& key : keys()) {
      const std::string name(key.name);
      std::string meaning(key.meaning);
      if (!key.choices.empty()) meaning += " (" + std::string(key.choices) + ')';
      if (!key.absent.empty()) meaning += " [" + std::string(key.absent) + ']';
      const std::string option = (name == "csv-file" ? "--csv,--" : "--") + name;
      Typed& typed = typed_[name];
      typed.option = app.add_option(option, typed.value, meaning)->take_last();
    }
  }
  void shrink() override { quick_ = true; }

  Workloads workloads(int ranks) override {
    Settings settings;
    if (!ini_.empty()) settings.read(ini_);
    if (quick_)
      for (const auto& [key, value] : kQuick) settings.set(key, value, "--quick");
    for (const auto& [key, typed] : typed_)
      if (typed.option->count() > 0) settings.set(key, typed.value, "--" + key);
    Workloads all;
    for (Parameters& each : settings.cases(ranks))
      all.push_back(std::make_unique<IotestWorkload>(std::move(each)));
    return all;
  }

 private:
  // An INI file of the original states all sizes; so these override it.
  static constexpr std::array<std::pair<const char*, const char*>, 4> kQuick{
      {{"steps", "2"}, {"arrays", "5"}, {"rows", "10"}, {"columns", "20"}}};

  struct Typed {
    std::string value;
    const CLI::Option* option = nullptr;
  };

  std::string ini_;
  bool quick_ = false;
  std::map<std::string, Typed> typed_;
};

}  // namespace

std::unique_ptr<Kernel> make_iotest() { return std::make_unique<IotestKernel>(); }

}  // namespace headrace::bench
