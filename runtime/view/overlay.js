// Legend, slider of choices and charts beside viser's player.  The time is that of its slider; groups are shown and hidden
// by messages to its scene, as a recording sends them.
(() => {
  const data = window.TALUS;
  const make = (kind, parent, more = {}) => {
    const found = Object.assign(document.createElement(kind), more);
    parent.append(found);
    return found;
  };
  const NARROW = 760; // [pixels]: the legend would cover nearly half of a window
  const shown = data.groups.map((group) => group.shown);
  const choices = data.groups.map((_, n) => n).filter((n) => data.groups[n].choice);
  let chosen = 0;

  const send = () => {
    const queue = window.__viserMutable?.messageQueue;
    if (!queue) return;
    const nodes = window.__viserSceneTree.getState();
    data.groups.forEach((group, n) => {
      const place = choices.indexOf(n);
      const visible = shown[n] && (place < 0 || place === chosen);
      if (nodes[group.node]) nodes[group.node].overrideVisibility = visible; // holds when the motion begins again
      queue.push({ type: "SetSceneNodeVisibilityMessage", name: group.node, visible });
    });
  };

  const legend = (panel) => {
    data.groups.forEach((group, n) => {
      if (group.choice) return;
      const label = make("label", panel);
      const box = make("input", label, { type: "checkbox", checked: shown[n] });
      const swatch = make("span", label, { className: group.scale.length ? "swatch bar" : "swatch" });
      swatch.style.background = group.scale.length ? `linear-gradient(to right, ${group.scale.join(", ")})` : group.colour;
      make("span", label, { textContent: group.label });
      box.addEventListener("change", () => { shown[n] = box.checked; send(); });
    });
    if (choices.length === 0) return;
    const text = make("div", panel);
    const slider = make("input", panel, { type: "range", min: 0, max: choices.length - 1, step: 1, value: 0 });
    slider.setAttribute("aria-label", data.choice);
    const show = () => {
      chosen = Number(slider.value);
      text.textContent = `${data.choice}: ${data.groups[choices[chosen]].label}`;
      send();
    };
    slider.addEventListener("input", show);
    show();
  };

  const NS = "http://www.w3.org/2000/svg";
  const part = (kind, parent, values) => {
    const found = document.createElementNS(NS, kind);
    Object.entries(values).forEach(([name, value]) => found.setAttribute(name, value));
    parent.append(found);
    return found;
  };
  const WIDTH = 300, HEIGHT = 96, EDGE = 4;
  const cursors = [];
  const across = (t) => EDGE + ((WIDTH - 2 * EDGE) * (t - data.start)) / (data.end - data.start || 1);
  const charts = (panel) => data.charts.forEach((chart) => {
    const figure = make("figure", panel);
    const values = chart.curves.flatMap((curve) => curve.y).filter((y) => y !== null);
    let low = Math.min(...values), high = Math.max(...values);
    if (!(high > low)) { low -= 1; high += 1; }
    make("figcaption", figure, { textContent: `${chart.title}: ${low.toPrecision(3)} to ${high.toPrecision(3)}` });
    const svg = part("svg", figure, { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" });
    const up = (y) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (y - low)) / (high - low);
    if (low < 0 && high > 0) part("line", svg, { x1: 0, x2: WIDTH, y1: up(0), y2: up(0), stroke: "#bbb" });
    chart.curves.forEach((curve) => {
      let path = "", pen = "M";
      curve.t.forEach((t, n) => {
        if (curve.y[n] === null) { pen = "M"; return; }
        path += `${pen}${across(t).toFixed(1)},${up(curve.y[n]).toFixed(1)}`;
        pen = "L";
      });
      part("path", svg, { d: path, fill: "none", stroke: curve.colour, "stroke-width": 1.5, "vector-effect": "non-scaling-stroke" });
    });
    cursors.push(part("line", svg, { y1: 0, y2: HEIGHT, stroke: "#000", "vector-effect": "non-scaling-stroke" }));
    const key = make("div", figure, { className: "key" });
    chart.curves.forEach((curve) => {
      make("span", key, { textContent: "■ " }).style.color = curve.colour;
      make("span", key, { textContent: `${curve.label}  ` });
    });
  });

  window.addEventListener("DOMContentLoaded", () => {
    const panel = make("div", document.body, { id: "talus" });
    const fold = make("button", panel, { className: "fold", textContent: "–", title: "fold" });
    fold.addEventListener("click", () => { fold.textContent = panel.classList.toggle("folded") ? "+" : "–"; });
    if (window.innerWidth < NARROW) fold.click();
    make("h1", panel, { textContent: data.title });
    const clock = make("div", panel, { className: "time" });
    legend(panel);
    charts(panel);
    make("div", panel, { className: "note", textContent: data.notes.join("; ") });
    let last = -1, ready = false;
    const follow = () => {
      const slider = document.querySelector('[role="slider"]');
      const played = slider ? Number(slider.getAttribute("aria-valuenow")) : 0;
      if (window.__viserMutable && (!ready || played < last)) { ready = true; send(); }
      if (played !== last) {
        const t = Math.min(data.start + played * data.speed, data.end);
        clock.textContent = `t = ${t.toFixed(3)} s` + (data.speed === 1 ? "" : `, at ${data.speed} times the speed`);
        cursors.forEach((line) => { line.setAttribute("x1", across(t)); line.setAttribute("x2", across(t)); });
        last = played;
      }
      requestAnimationFrame(follow);
    };
    follow();
  });
})();
