#include <string>

#include "base/report/json.hpp"
#include "plugin/module.hpp"

namespace headrace {
namespace {

// Joins the items of a JSON array.
class JsonArray {
 public:
  void add(const std::string& json) { body_ += (body_.empty() ? "" : ",") + json; }
  [[nodiscard]] std::string str() const { return '[' + body_ + ']'; }

 private:
  std::string body_;
};

std::string choices_of(std::string_view choices) {
  JsonArray array;
  while (!choices.empty()) {
    const auto end = std::min(choices.find('|'), choices.size());
    array.add(json_quote(choices.substr(0, end)));
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return array.str();
}

void add_settings(JsonArray& array, std::string_view layer, std::span<const Setting> settings) {
  for (const Setting& setting : settings) {
    std::string python(layer);
    python += layer.empty() ? "" : "_";
    python += setting.option;
    array.add(JsonObject()
                  .text("layer", layer)
                  .text("option", setting.option)
                  .text("env", setting.env)
                  .text("python", python)
                  .text("type", type_name(setting.type))
                  .raw("choices", choices_of(setting.choices))
                  .text("unit", setting.unit)
                  .text("default", setting.fallback)
                  .text("meaning", setting.meaning)
                  .str());
  }
}

template <typename Class>
void add_plugin(JsonObject& layer, std::string_view seat, const Plugin<Class>& plugin) {
  if (plugin.cls == nullptr) return;
  layer.raw(seat, JsonObject()
                      .text("name", plugin.name)
                      .number("value", plugin.value)
                      .text("file", plugin.file)
                      .str());
}

std::string describe() {
  JsonArray settings;
  add_settings(settings, "", global_settings());
  JsonArray all;
  for (const LayerEntry& entry : layers()) {
    JsonObject layer;
    layer.text("name", entry.name).text("summary", entry.summary);
    add_plugin(layer, "vol", entry.vol);
    add_plugin(layer, "vfd", entry.vfd);
    add_plugin(layer, "vfd_mpi", entry.vfd_mpi);
    layer.boolean("repeats", entry.vol.repeats || entry.vfd.repeats);
    all.add(layer.str());
    add_settings(settings, entry.name, entry.settings);
  }
  return JsonObject()
      .text("version", HEADRACE_VERSION)
      .raw("layers", all.str())
      .raw("settings", settings.str())
      .str();
}

}  // namespace
}  // namespace headrace

const char* headrace_describe() {
  static const auto* const text = new std::string(headrace::describe());
  return text->c_str();
}
