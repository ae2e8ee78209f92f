// The history files of the climate model E3SM, with its real decompositions, after the benchmark
// E3SM-IO. https://github.com/Parallel-NetCDF/E3SM-IO
//
// The maps are for 16 processes. As many logical ranks are replayed here from any number of real
// ones: each plays a block of them, one after the other. Without maps, ones like them are made up.
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "kernel.hpp"
#include "kernels/e3sm/batch.hpp"
#include "scratch.hpp"

namespace headrace::bench {
namespace {

using e3sm::Batch;
using e3sm::Building;
using e3sm::Calls;

struct Settings {
  std::string data;
  std::string which = "all";
  std::uint64_t records = 1;
  Building building = Building::combine;
};

const char* name_of(Calls calls) {
  switch (calls) {
    case Calls::canonical:
      return "canonical";
    case Calls::requests:
      return "requests";
    case Calls::multi:
      return "multi";
    case Calls::boxes:
      break;
  }
  return "boxes";
}

class E3sm final : public Workload {
 public:
  E3sm(std::string name, std::shared_ptr<const e3sm::Plan> plan, Settings settings, Calls calls,
       bool collective)
      : Workload(std::move(name)),
        plan_(std::move(plan)),
        settings_(std::move(settings)),
        calls_(calls),
        building_(calls == Calls::requests ? Building::append : settings_.building),
        collective_(collective) {}

  [[nodiscard]] JsonObject parameters() const override {
    JsonObject all;
    all.text("case", name().substr(0, 1))
        .number("records", static_cast<long long>(settings_.records))
        .number("variables", static_cast<long long>(plan_->fields.size()))
        .number("logical_ranks", static_cast<long long>(plan_->ranks()))
        .text("calls", name_of(calls_))
        .text("selections", building_ == Building::combine ? "combine" : "append")
        .text("data", settings_.data.empty() ? "made up" : "E3SM-IO's maps")
        .boolean("collective", collective_);
    return all;
  }
  [[nodiscard]] std::uint64_t bytes(int /*ranks*/) const override {
    return plan_->bytes(settings_.records);
  }

  void write(Run& run) override {
    e3sm::HistoryFile file =
        run.timed(Phase::create, [&] { return e3sm::create_history(run, *plan_); });
    const Handle dxpl = run.dxpl(collective_);
    for (hsize_t record = 0; record < settings_.records; ++record) {
      run.timed(Phase::write, [&] { extend(file, record + 1); });
      each_rank(run, [&](std::size_t rank, bool takes_part) {
        Scratch<Batch> batch(run, *plan_, rank, record, takes_part, in_step(run));
        run.wrote(run.untimed([&] { return batch->fill(); }));
        run.timed(Phase::select, [&] { batch->select(file, calls_, building_, record + 1); });
        run.timed(Phase::write, [&] { batch->write(run, file, calls_, dxpl.get()); });
      });
      run.compute();
      run.progress(static_cast<double>(record + 1) / static_cast<double>(settings_.records));
    }
    run.timed(Phase::flush, [&] { check(H5Fflush(file.file.get(), H5F_SCOPE_GLOBAL), "flush"); });
    run.timed(Phase::close, [&] { file.close(); });
  }

  void read(Run& run) override {
    e3sm::HistoryFile file =
        run.timed(Phase::open, [&] { return e3sm::open_history(run, *plan_, settings_.records); });
    const Handle dxpl = run.dxpl(collective_);
    for (hsize_t record = 0; record < settings_.records; ++record) {
      each_rank(run, [&](std::size_t rank, bool takes_part) {
        Scratch<Batch> batch(run, *plan_, rank, record, takes_part, in_step(run));
        run.timed(Phase::read, [&] {
          const Calls calls = calls_ == Calls::boxes ? Calls::canonical : calls_;
          batch->select(file, calls, building_, settings_.records);
          batch->read(run, calls, dxpl.get());
        });
        run.has_read(run.untimed([&] { return batch->verify(); }));
      });
      run.progress(static_cast<double>(record + 1) / static_cast<double>(settings_.records));
    }
    run.timed(Phase::close_read, [&] { file.close(); });
  }

 private:
  // Whether all ranks must make the same calls.
  [[nodiscard]] bool in_step(Run& run) const { return collective_ && run.world().parallel(); }

  void extend(const e3sm::HistoryFile& file, hsize_t records) const {
    for (std::size_t i = 0; i < plan_->fields.size(); ++i) {
      const e3sm::Field& field = plan_->fields[i];
      if (!field.record) continue;
      const std::vector<hsize_t> now = field.extents(records);
      check(H5Dset_extent(file.datasets[i].get(), now.data()), "extend " + field.name);
    }
  }

  // Calls play(logical rank, whether it is one of ours) as often on all ranks.
  template <typename Play>
  void each_rank(Run& run, const Play& play) const {
    const std::size_t all = plan_->ranks();
    const auto ranks = static_cast<std::size_t>(run.ranks());
    const auto mine = static_cast<std::size_t>(run.rank());
    const std::size_t first = mine * all / ranks;
    const std::size_t count = (mine + 1) * all / ranks - first;
    for (std::size_t i = 0; i < (all + ranks - 1) / ranks; ++i)
      if (i < count || in_step(run)) play(first + i, i < count);
  }

  std::shared_ptr<const e3sm::Plan> plan_;
  Settings settings_;
  Calls calls_;
  Building building_;
  bool collective_;
};

class E3smKernel final : public Kernel {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("--data", settings_.data,
                   "Folder with E3SM-IO's map_f_case_16p.nc, f_case_h0.txt, map_g_case_16p.nc and "
                   "g_case_hist.txt; without it maps of like sizes and runs are made up")
        ->check(CLI::ExistingDirectory);
    app.add_option("--case", settings_.which, "Atmosphere, ocean, or both")
        ->check(CLI::IsMember({"f", "g", "all"}));
    add_count(app, "--records", settings_.records, "History records");
    app.add_option_function<std::string>(
           "--selections",
           [&](const std::string& how) {
             settings_.building = how == "append" ? Building::append : Building::combine;
           },
           "Unions of blocks built well (combine), or as E3SM-IO does, one by one (append), as the "
           "cases called requests always do")
        ->check(CLI::IsMember({"combine", "append"}));
  }
  void shrink() override {}  // a record is small enough
  Workloads workloads(int ranks) override {
    Workloads all;
    for (const char which : {'f', 'g'}) {
      if (settings_.which != "all" && settings_.which[0] != which) continue;
      auto plan = std::make_shared<e3sm::Plan>();
      if (settings_.data.empty())
        make_up_plan(*plan, which);
      else
        load_plan(*plan, settings_.data, which);
      for (const Calls calls : {Calls::canonical, Calls::requests, Calls::multi, Calls::boxes})
        for (const bool collective : {false, true}) {
          if (collective && (ranks == 1 || calls == Calls::boxes)) continue;
          const std::string name = std::string(1, which) + '-' + name_of(calls) +
                                   (collective ? "-collective" : "-independent");
          all.push_back(std::make_unique<E3sm>(name, plan, settings_, calls, collective));
        }
    }
    return all;
  }

 private:
  Settings settings_;
};

}  // namespace

std::unique_ptr<Kernel> make_e3sm() { return std::make_unique<E3smKernel>(); }

}  // namespace headrace::bench
