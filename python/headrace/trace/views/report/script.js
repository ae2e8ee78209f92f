"use strict";
// Sorts tables, and shows a part or another measure of the time line. The page is whole without it.

(() => {
  const text = (parent, name, content, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = content;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  const digits = (value) => (value >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3));
  const seconds = (value) =>
    value >= 1 ? `${digits(value)} s` : value >= 1e-3 ? `${digits(value * 1e3)} ms` : `${digits(value * 1e6)} µs`;
  const size = (value) => {
    const steps = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let step = 0;
    while (value >= 1024 && step < steps.length - 1) { value /= 1024; step += 1; }
    return `${digits(value)} ${steps[step]}`;
  };
  const count = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  // Tables.
  const sortBy = (table, column, down) => {
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
    };
    const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const name = head.textContent.trim();
      head.textContent = "";
      const button = text(head, "button", name, { type: "button" });
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const numbers = head.classList.contains("number");
        sortBy(table, column, now ? now === "ascending" : numbers);
      });
    });
  }

  // The time line.
  const figure = document.getElementById("timeline");
  if (!figure) return;
  const data = JSON.parse(document.getElementById("timeline-data").textContent);
  const strips = [...figure.querySelectorAll("svg.strip")];
  const ticks = [...figure.querySelectorAll(".ticks span")];
  const told = figure.querySelector(".told");
  let from = 0;
  let width = data.bins;
  const show = (first, wide) => {
    width = Math.min(Math.max(wide, 10), data.bins);
    from = Math.min(Math.max(first, 0), data.bins - width);
    for (const strip of strips) {
      const { height } = strip.viewBox.baseVal;
      strip.setAttribute("viewBox", `${from} 0 ${width} ${height}`);
    }
    ticks.forEach((tick, i) => {
      tick.textContent = seconds(((from + (width * i) / (ticks.length - 1)) * data.seconds) / data.bins);
    });
  };
  const tools = figure.querySelector(".tools");
  for (const [name, act] of [
    ["closer", () => show(from + width / 4, width / 2)],
    ["wider", () => show(from - width / 2, width * 2)],
    ["earlier", () => show(from - width / 4, width)],
    ["later", () => show(from + width / 4, width)],
    ["all", () => show(0, data.bins)],
  ]) {
    text(tools, "button", name, { type: "button" }).addEventListener("click", act);
  }
  const tell = (at, lane) => {
    const bin = Math.min(Math.max(Math.floor(at), 0), data.bins - 1);
    const when = seconds((bin * data.seconds) / data.bins);
    const values = data.lanes[lane];
    const say = (seat) =>
      `${seconds(seat.time[bin])}, ${size(seat.bytes[bin])}, ${count(seat.number[bin])} begun`;
    told.textContent = values
      ? `${values.name} at ${when}: calls ${say(values.calls)}; requests ${say(values.requests)}`
      : `at ${when}`;
    for (const mark of figure.querySelectorAll(".mark")) {
      mark.setAttribute("x", bin);
      mark.removeAttribute("hidden");
    }
  };
  let cursor = 0;
  strips.forEach((strip, lane) => {
    const place = (event) => {
      const box = strip.getBoundingClientRect();
      return from + ((event.clientX - box.left) / box.width) * width;
    };
    let begun = null;
    strip.addEventListener("pointermove", (event) => { cursor = place(event); tell(cursor, lane); });
    strip.addEventListener("pointerdown", (event) => { begun = place(event); });
    strip.addEventListener("pointerup", (event) => {
      const end = place(event);
      if (begun !== null && Math.abs(end - begun) > width / 50) show(Math.min(begun, end), Math.abs(end - begun));
      begun = null;
    });
    strip.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => { cursor = Math.max(cursor - 1, 0); },
        ArrowRight: () => { cursor = Math.min(cursor + 1, data.bins - 1); },
        Home: () => { cursor = from; },
        End: () => { cursor = from + width - 1; },
        "+": () => show(cursor - width / 4, width / 2),
        "-": () => show(from - width / 2, width * 2),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
      if (cursor < from || cursor >= from + width) show(cursor - width / 2, width);
      tell(cursor, lane);
    });
    strip.setAttribute("tabindex", "0");
  });
  const measure = (name) => {
    for (const part of figure.querySelectorAll("[data-measure]")) {
      part.toggleAttribute("hidden", part.dataset.measure !== name);
    }
  };
  for (const choice of figure.querySelectorAll("input[name=measure]")) {
    choice.addEventListener("change", () => measure(choice.value));
  }
  figure.classList.add("live");
})();
