// The interactive part of the report: the list of all cases, the page of a case, and keyboard control. The page is
// readable without it. Text from kernels is inserted as text, never as markup.
(async () => {
  "use strict";

  // The data is deflated JSON in base64.
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  if (!("DecompressionStream" in window)) {
    document.getElementById("old-browser").hidden = false;
    return;
  }
  const data = await unpacked(document.getElementById("data").textContent);
  const kRowHeight = 34;
  const kPageSize = 12; // rows rendered beyond each edge of the viewport
  const $ = (id) => document.getElementById(id);

  // ---- cases -----------------------------------------------------------------------------------------------------

  const column = Object.fromEntries(data.columns.map((name, i) => [name, i]));

  function verdictText(outcome, kind) {
    if (outcome.name.startsWith("pass") && outcome.tone === "unexpected") return "unexpected pass";
    return kind ? `${outcome.name}(${kind})` : outcome.name;
  }

  function caseAt(i) {
    const row = data.rows[i];
    const name = row[column.name];
    const [family, kernel, types, device, pass, mode = ""] = name.split("/");
    const outcome = data.outcomes[row[column.outcome]];
    const kind = data.texts[row[column.kind]];
    return {
      i, row, name, family, kernel, types, device, pass, mode, outcome: outcome.name, tone: outcome.tone, kind,
      verdict: verdictText(outcome, kind),
      message: data.texts[row[column.message]],
      rho: row[column.rho],
      values: row[column.values],
      time: row[column.times].reduce((sum, t) => sum + t, 0),
    };
  }

  const cases = data.rows.map((_, i) => caseAt(i));
  const positionOf = new Map(cases.map((c) => [c.name, c.i]));
  const severity = Object.fromEntries(["unexpected", "inconclusive", "not_run", "waived", "passed", "unsupported"].map((t, i) => [t, i]));

  // ---- elements --------------------------------------------------------------------------------------------------

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...present(children));
    return made;
  }

  function drawing(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...present(children));
    return made;
  }

  const present = (children) => children.filter((child) => child !== null && child !== undefined);

  const caseLink = (name) => "#case=" + encodeURIComponent(name).replaceAll("%2F", "/");
  const filterLink = (query) => "#q=" + encodeURIComponent(query);

  function rhoText(rho) {
    if (rho === null) return "";
    if (typeof rho === "string") return rho === "inf" ? "∞" : rho;
    return rho >= 1000 ? rho.toExponential(1) : rho.toPrecision(3);
  }

  function timeText(ms) {
    if (ms >= 60000) return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
    if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
    return ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
  }

  const countText = (n) => n.toLocaleString("en").replaceAll(",", "\u202f");

  // ---- filter: all words must match; key:value compares a component of the case --------------------------------

  const kParts = ["family", "kernel", "types", "device", "pass", "mode", "outcome", "kind"];

  function matcher(query) {
    const tests = query.trim().split(/\s+/).filter(Boolean).map((word) => {
      const colon = word.indexOf(":");
      const key = word.slice(0, colon);
      const value = word.slice(colon + 1).toLowerCase();
      if (colon > 0 && key === "is") return (c) => c.tone === value;
      if (colon > 0 && kParts.includes(key)) return (c) => c[key].toLowerCase() === value;
      const text = word.toLowerCase();
      return (c) => `${c.name} ${c.verdict} ${c.message}`.toLowerCase().includes(text);
    });
    return (c) => tests.every((test) => test(c));
  }

  // ---- the list ----------------------------------------------------------------------------------------------------

  const list = $("list");
  const rows = $("rows");
  const orders = {
    Case: (a, b) => a.i - b.i,
    Outcome: (a, b) => severity[a.tone] - severity[b.tone] || a.verdict.localeCompare(b.verdict) || a.i - b.i,
    "rho max": (a, b) => rank(b.rho) - rank(a.rho) || a.i - b.i,
    Values: (a, b) => b.values - a.values || a.i - b.i,
    Time: (a, b) => b.time - a.time || a.i - b.i,
  };
  const rank = (rho) => (rho === null ? -1 : typeof rho === "string" ? Infinity : rho);

  let order = "Outcome";
  let query = "";
  let shown = [];
  let selected = 0;

  function refresh() {
    const matches = matcher(query);
    shown = cases.filter(matches).sort(orders[order]);
    selected = 0;
    list.scrollTop = 0;
    rows.style.height = `${Math.max(shown.length, 1) * kRowHeight}px`;
    $("shown").textContent = `${countText(shown.length)} of ${countText(cases.length)}`;
    for (const chip of $("chips").children) chip.classList.toggle("on", chip.dataset.query === query);
    renderRows();
  }

  function renderRow(position) {
    const c = shown[position];
    const row = element(
      "a", { class: position === selected ? "row on" : "row", href: caseLink(c.name), tabindex: "-1" },
      element("span", { class: "name", title: c.name }, c.name),
      element("span", { class: "outcome" }, element("span", { class: `badge ${c.tone}`, title: c.message }, c.verdict)),
      element("span", { class: "num" }, rhoText(c.rho)),
      element("span", { class: "num" }, countText(c.values)),
      element("span", { class: "num" }, timeText(c.time)));
    row.style.top = `${position * kRowHeight}px`;
    return row;
  }

  function renderRows() {
    if (shown.length === 0) {
      rows.replaceChildren(element("p", { class: "none" }, "No case matches."));
      return;
    }
    const first = Math.max(0, Math.floor(list.scrollTop / kRowHeight) - kPageSize);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / kRowHeight) + kPageSize);
    const made = [];
    for (let position = first; position < last; ++position) made.push(renderRow(position));
    rows.replaceChildren(...made);
  }

  function select(position) {
    selected = Math.max(0, Math.min(shown.length - 1, position));
    const top = selected * kRowHeight;
    const room = list.clientHeight - $("head").offsetHeight - kRowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top > list.scrollTop + room) list.scrollTop = top - room;
    renderRows();
  }

  function renderHead() {
    const buttons = Object.keys(orders).map((name) => {
      const numeric = !["Case", "Outcome"].includes(name);
      const button = element("button", { type: "button", class: numeric ? "num" : "", "aria-pressed": String(name === order), title: `Sort by ${name}` }, name);
      button.addEventListener("click", () => { order = name; renderHead(); refresh(); });
      return button;
    });
    $("head").replaceChildren(...buttons);
  }

  function renderChips() {
    const chip = (label, filter, tone, count) =>
      element("a", { class: `chip ${tone}`, href: filterLink(filter), "data-query": filter }, element("b", {}, countText(count)), ` ${label}`);
    const made = [chip("all", "", "", cases.length)];
    for (const outcome of [...data.outcomes].sort((a, b) => severity[a.tone] - severity[b.tone])) {
      const count = cases.filter((c) => c.outcome === outcome.name && c.tone === outcome.tone).length;
      const label = outcome.tone === "waived" ? `${outcome.name} xfail` : verdictText(outcome, "");
      if (count > 0) made.push(chip(label, `outcome:${outcome.name} is:${outcome.tone}`, outcome.tone, count));
    }
    $("chips").replaceChildren(...made);
  }

  // ---- the page of a case ------------------------------------------------------------------------------------------

  function facts(pairs) {
    const list = element("dl", { class: "facts" });
    for (const [label, text] of pairs) {
      if (text !== "") list.append(element("div", {}, element("dt", {}, label), element("dd", {}, text)));
    }
    return list;
  }

  function command(text) {
    return element("div", { class: "command" }, element("code", {}, text), element("button", { type: "button", class: "copy" }, "Copy"));
  }

  function table(head, body) {
    return element(
      "table", { class: "plain" },
      element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...body.map((cells) => element("tr", {}, ...cells.map((text) => element("td", {}, text))))));
  }

  function sourcesOf(c) {
    const kept = data.sources[c.row[column.name]];
    if (!kept) return null;
    const sources = element("div", { class: "sources" }, ...kept.texts.map(({ label, text }) =>
      element("figure", {}, element("figcaption", {}, label), element("pre", {}, text))));
    return element("section", {}, sources, kept.compile_command ? command(kept.compile_command) : null);
  }

  // Histogram of values by tenth of their bound used; the last bar counts values beyond it.
  function histogram(c) {
    const counts = c.row[column.histogram];
    if (counts.length === 0) return null;
    const most = Math.log1p(Math.max(...counts));
    const bars = Array.from({ length: 11 }, (_, i) => {
      const count = counts[i] ?? 0;
      const height = count > 0 ? Math.max(2, 56 * Math.log1p(count) / most) : 0;
      const range = i === 10 ? "more than the bound" : `${10 * i} to ${10 * (i + 1)} % of the bound`;
      return drawing("rect", { class: i === 10 ? "beyond" : "", x: 20 * i + (i === 10 ? 6 : 0), y: 58 - height, width: 17, height },
        drawing("title", {}, `${range}: ${countText(count)}`));
    });
    const label = (x, text) => drawing("text", { x, y: 70 }, text);
    return element("figure", { class: "chart" },
      drawing("svg", { viewBox: "0 0 226 74", role: "img", "aria-label": `Values by share of their bound: ${counts.join(", ")}` },
        ...bars, drawing("line", { x1: 0, x2: 197, y1: 58, y2: 58 }), label(0, "0"), label(92, "rho"), label(192, "1"), label(212, ">")),
      element("figcaption", {}, "Values by used share of their bound; bar heights are logarithmic."));
  }

  // Distances of finite differences from the gradient by step; both axes are logarithmic.
  function plateau(c) {
    const seen = c.row[column.plateau];
    if (!seen) return null;
    const [inputSet, gradient, allowed, estimates] = seen;
    const level = (distance) => Math.log10(Math.max(distance, 1e-300));
    const levels = [...estimates.map(([, distance]) => distance).filter((d) => d > 0), allowed].map(level);
    const [low, high] = [Math.min(...levels) - 0.5, Math.max(...levels) + 0.5];
    const x = (i) => 30 + 36 * i;
    const y = (distance) => 58 - 54 * (Math.max(level(distance), low) - low) / (high - low);
    const points = estimates.map(([, distance], i) => [x(i), y(distance)]);
    const dots = points.map(([cx, cy], i) => drawing("circle", { cx, cy, r: 2.5 },
      drawing("title", {}, `step ${estimates[i][0]}: off by ${estimates[i][1]}`)));
    const superscript = (exponent) => String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
    const stepText = (step) => `2${superscript(Math.round(Math.log2(step)))}`;
    return element("figure", { class: "chart" },
      drawing("svg", { viewBox: "0 0 226 74", role: "img", "aria-label": `Distance from the gradient by step: ${estimates.map(([s, d]) => `${s}: ${d}`).join(", ")}` },
        drawing("line", { class: "allowed", x1: 20, x2: 222, y1: y(allowed), y2: y(allowed) }),
        drawing("polyline", { points: points.map((point) => point.join(",")).join(" ") }), ...dots,
        drawing("text", { x: x(0) - 8, y: 70 }, stepText(estimates[0][0])),
        drawing("text", { x: x(estimates.length - 1) - 8, y: 70 }, stepText(estimates.at(-1)[0])),
        drawing("text", { x: 0, y: y(allowed) + 3 }, allowed.toExponential(0))),
      element("figcaption", {}, `Input set ${inputSet}: distance of central differences of the forward kernel from the gradient ${gradient}, by step. The extrapolated difference must be below the dashed line.`));
  }

  // How the bounds of the checks that ran are computed.
  function derivation(c) {
    const ran = c.row[column.tiers].map(([tier]) => data.tiers[tier]);
    return element("details", { class: "derivation" }, element("summary", {}, "How the bounds are computed"),
      element("dl", {}, ...ran.flatMap(({ label, bound }) => [element("dt", {}, label), element("dd", {}, bound)])));
  }

  // The tables and charts of every case. Further details of a case that did not pass are already in the page.
  function measurements(c) {
    const tiers = c.row[column.tiers].map(([tier, checks, failed, rho]) =>
      [data.tiers[tier].label, countText(checks), countText(failed), rhoText(rho)]);
    const times = data.stages.map((stage, i) => [stage, c.row[column.times][i]]).filter(([, t]) => t > 0)
      .map(([stage, t]) => [stage, timeText(t)]);
    return element(
      "div", { class: "columns" },
      element("div", {}, element("h3", {}, "Checks"),
        tiers.length ? table(["Check", "Values", "Failed", "Max rho"], tiers) : element("p", { class: "hint" }, "Nothing was compared."),
        tiers.length ? derivation(c) : null),
      chart("Use of the error bounds", histogram(c)),
      chart("Convergence of finite differences", plateau(c)),
      element("div", {}, element("h3", {}, "Time by stage"), times.length ? table(["Stage", "Time"], times) : element("p", { class: "hint" }, "No stage ran.")));
  }

  const chart = (title, figure) => (figure ? element("div", {}, element("h3", {}, title), figure) : null);

  // Moves facts of `details` that `summary` lacks into it, to avoid duplicates.
  function joinFacts(summary, details) {
    const labels = new Set([...summary.querySelectorAll("dt")].map((dt) => dt.textContent));
    const old = details.querySelector(".facts");
    if (!old) return;
    summary.append(...[...old.children].filter((fact) => !labels.has(fact.querySelector("dt").textContent)));
    old.remove();
  }

  function closestText(closest) {
    if (!closest) return "";
    const [array, control, rho] = closest;
    const by = rho === "inf" ? "an exact bound" : `${rhoText(rho)} times its bound`;
    return `${data.texts[control]} for ${data.texts[array]}, off by ${by}`;
  }

  function neighbour(c, step) {
    const position = shown.findIndex((other) => other.i === c.i);
    return position < 0 ? undefined : shown[position + step];
  }

  function renderCase(c) {
    const previous = neighbour(c, -1);
    const next = neighbour(c, 1);
    const file = data.texts[c.row[column.file]];
    const line = c.row[column.line];
    const doubts = data.doubts.map((kind, i) => [kind, c.row[column.inconclusive][i]]).filter(([, n]) => n > 0);
    const reproduce = data.texts[c.row[column.reproduce]].replaceAll("{case}", c.name);
    const standing = document.getElementById(`c${c.i}`);
    const details = standing ? element("div", { class: "panel" }, standing.querySelector(".body").cloneNode(true)) : null;
    const attempts = c.row[column.attempts].map((outcome) => data.outcomes[outcome].name);
    const summary = facts([
      ["Kernel", line ? `${file}:${line}` : file],
      ["rho max", rhoText(c.rho)],
      ["Values compared", countText(c.values)],
      ["Input sets", String(c.row[column.input_sets])],
      ["Incorrect results rejected", countText(c.row[column.controls])],
      ["Closest to being accepted", closestText(c.row[column.closest])],
      ["Inconclusive checks", doubts.map(([kind, n]) => `${n} ${kind}`).join(", ")],
      ["Attempts", attempts.length > 1 ? attempts.join(", then ") : ""],
    ]);
    if (details) joinFacts(summary, details);
    $("case").replaceChildren(...present([
      element("div", { class: "crumbs" }, element("a", { href: filterLink(query) }, "← All cases"),
        previous ? element("a", { href: caseLink(previous.name) }, "Previous") : null,
        next ? element("a", { href: caseLink(next.name) }, "Next") : null),
      element("h1", {}, c.name),
      element("span", { class: `badge ${c.tone}` }, c.verdict),
      c.message ? element("p", { class: "lead" }, c.message) : null,
      !details && reproduce ? command(reproduce) : null,
      summary,
      details,
      element("section", {}, measurements(c)),
      details ? null : sourcesOf(c),
    ]));
    for (const button of $("case").querySelectorAll("[hidden]")) button.hidden = false;
    for (const sources of $("case").querySelectorAll(".sources")) relate(sources);
  }

  // ---- corresponding lines -----------------------------------------------------------------------------------------

  // Emitted code has a comment with the source line above each statement: "// 12: y = x * x".
  const kOrigin = /^\s*\/\/ (\d+): (.*)$/;

  // The source line of each line of emitted code; 0 if it has none.
  function origins(lines) {
    let origin = 0;
    return lines.map((line) => {
      const found = kOrigin.exec(line);
      if (found) origin = Number(found[1]);
      else if (/^\S/.test(line)) origin = 0; // a new function
      return /^[\s}]*$/.test(line) ? 0 : origin;
    });
  }

  // The line number of the first source line in its file: emitted code counts lines of the file.
  function firstNumber(source, emitted) {
    const votes = new Map();
    for (const line of emitted.flat()) {
      const found = kOrigin.exec(line);
      if (!found) continue;
      source.forEach((text, i) => {
        const first = Number(found[1]) - i;
        if (text.trim() === found[2].trim()) votes.set(first, (votes.get(first) ?? 0) + 1);
      });
    }
    return [...votes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 1;
  }

  // Makes every line an element with its source line.
  function relate(sources) {
    if (sources.dataset.related) return;
    sources.dataset.related = "yes";
    const figures = [...sources.querySelectorAll("figure")];
    const isSource = (figure) => figure.querySelector("figcaption").textContent === "Python";
    const lines = figures.map((figure) => figure.querySelector("pre").textContent.split("\n"));
    const source = figures.findIndex(isSource);
    if (source < 0) return;
    const first = firstNumber(lines[source], lines.filter((_, i) => i !== source));
    figures.forEach((figure, f) => {
      const numbers = f === source ? lines[f].map((_, i) => first + i) : origins(lines[f]);
      figure.querySelector("pre").replaceChildren(...lines[f].map((text, i) =>
        element("span", numbers[i] > 0 ? { class: "line", "data-origin": numbers[i] } : { class: "line" }, text || element("br"))));
    });
  }

  // Marks corresponding lines in all sources; with `scroll` also scrolls them into view.
  function markLines(line, scroll) {
    const sources = line.closest(".sources");
    for (const marked of sources.querySelectorAll(".line.on")) marked.classList.remove("on");
    const origin = line.dataset.origin;
    if (!origin) return;
    for (const pre of sources.querySelectorAll("pre")) {
      const together = pre.querySelectorAll(`.line[data-origin="${CSS.escape(origin)}"]`);
      for (const one of together) one.classList.add("on");
      if (scroll && together.length > 0 && !pre.contains(line)) pre.scrollTop = together[0].offsetTop - pre.clientHeight / 3;
    }
  }

  // ---- navigation: the fragment holds the state -------------------------------------------------------------------------------------

  function show(isCase) {
    $("report").hidden = isCase;
    $("case").hidden = !isCase;
  }

  function decoded(text) {
    try { return decodeURIComponent(text); } catch { return text; }
  }

  function route() {
    const fragment = location.hash.slice(1);
    if (fragment.startsWith("case=")) {
      const position = positionOf.get(decoded(fragment.slice(5)));
      if (position !== undefined) {
        renderCase(cases[position]);
        show(true);
        scrollTo(0, 0);
        document.title = `${cases[position].name} · Assay`;
        $("case").focus({ preventScroll: true });
        return;
      }
    }
    const wasCase = !$("case").hidden;
    show(false);
    document.title = data.title;
    if (fragment.startsWith("q=")) {
      const wanted = decoded(fragment.slice(2));
      if (wanted !== query || !wasCase) {
        query = wanted;
        $("filter").value = query;
        refresh();
      }
      $("cases").scrollIntoView();
    } else if (fragment && document.getElementById(fragment)) {
      document.getElementById(fragment).scrollIntoView();
    }
  }

  // ---- input events ---------------------------------------------------------------------------------------------------------

  async function copy(button) {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // not allowed: leave it selected for the reader to copy
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  function openCase() {
    const found = !$("case").hidden && positionOf.get(decoded(location.hash.slice(6)));
    return typeof found === "number" ? cases[found] : undefined;
  }

  function move(step) {
    const open = openCase();
    if (!open) return select(selected + step);
    const next = neighbour(open, step);
    if (next) location.hash = caseLink(next.name);
  }

  const keys = {
    "/": () => { if (!$("case").hidden) location.hash = filterLink(query); $("filter").focus(); $("filter").select(); },
    j: () => move(1),
    k: () => move(-1),
    Enter: () => { if ($("case").hidden && document.activeElement === list && shown[selected]) location.hash = caseLink(shown[selected].name); },
    Escape: () => { if (!$("case").hidden) location.hash = filterLink(query); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input")) {
      if (event.key === "Escape" || event.key === "Enter") list.focus();
      return;
    }
    const act = keys[event.key];
    if (!act) return;
    if (event.key !== "Enter") event.preventDefault();
    if ((event.key === "j" || event.key === "k") && $("case").hidden) list.focus({ preventScroll: false });
    act();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (button) copy(button);
    const line = event.target.closest(".sources .line");
    if (line && getSelection().isCollapsed) markLines(line, true);
  });
  document.addEventListener("mouseover", (event) => {
    const sources = event.target.closest(".sources");
    if (sources) relate(sources);
    const line = event.target.closest(".sources .line");
    if (line) markLines(line, false);
  });
  $("filter").addEventListener("input", () => {
    query = $("filter").value;
    history.replaceState(null, "", query ? filterLink(query) : "#cases");
    refresh();
  });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  list.addEventListener("scroll", () => requestAnimationFrame(renderRows), { passive: true });
  addEventListener("resize", renderRows);
  addEventListener("hashchange", route);
  addEventListener("beforeprint", () => { for (const details of document.querySelectorAll("details.case")) details.open = true; });

  for (const hidden of document.querySelectorAll(".js[hidden]")) {
    if (hidden.id !== "case") hidden.hidden = false;
  }
  renderHead();
  renderChips();
  refresh();
  route();
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
})();
