#include "vol/terminal/info.hpp"

#include <array>
#include <cstring>

#include "base/error.hpp"
#include "base/settings/connection_string.hpp"

namespace headrace::vol {
namespace {

constexpr std::array<std::string_view, 2> kUnderKeys{"under_vol", "under_info"};

Options parse(const char* text, std::string_view layer, std::span<const Setting> settings) {
  Options options = parse_connection_string(text == nullptr ? "" : text);
  check_options(options, settings, kUnderKeys, layer);
  const auto value = options.extract("under_vol");
  const auto info = options.extract("under_info");
  if ((!value.empty() && value.mapped() != "0") || (!info.empty() && !info.mapped().empty()))
    throw Error("nothing can be below connector " + std::string(layer) +
                ", which keeps files itself (under_vol)");
  return options;
}

}  // namespace

std::unique_ptr<TerminalInfo> parse_terminal_info(const char* text, std::string_view layer,
                                                  std::span<const Setting> settings) {
  auto info = std::make_unique<TerminalInfo>();
  try {
    info->options = parse(text, layer, settings);
  } catch (const Error& error) {
    info->error = error.what();
  }
  return info;
}

char* format_terminal_info(const TerminalInfo& info) {
  Options all = info.options;
  all["under_vol"] = "0";
  all["under_info"] = "";
  return ::strdup(format_connection_string(all, "under_info").c_str());
}

Options terminal_options_of(hid_t fapl, std::string_view layer, std::span<const Setting> settings) {
  void* found = nullptr;
  if (h5.Pget_vol_info(fapl, &found) < 0) throw Error("the access property list has no VOL info");
  std::unique_ptr<TerminalInfo> info(static_cast<TerminalInfo*>(found));  // HDF5 gave us a copy
  if (info == nullptr) info = parse_terminal_info(nullptr, layer, settings);
  if (!info->error.empty()) throw Error(info->error);
  return std::move(info->options);
}

}  // namespace headrace::vol
