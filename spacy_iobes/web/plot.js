// Estimated coverage against sentences read, with the interval that the audit gives.

const WIDTH = 320;
const HEIGHT = 170;
const EDGE = { left: 30, right: 6, top: 8, bottom: 22 };

function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// `points` are {read, coverage, low, high}, in order; coverage may be null.
export function plot(points, target, words) {
  const known = points.filter((point) => point.coverage !== null);
  const most = Math.max(1, ...points.map((point) => point.read));
  const x = (read) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * read) / most;
  const y = (share) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - share);
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": words });
  for (const share of [0, 0.5, 1]) {
    svg.append(shape("line", { class: "axis", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(share), y2: y(share) }));
    svg.append(shape("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end" }, Math.round(share * 100)));
  }
  svg.append(shape("line", { class: "target", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(target), y2: y(target) }));
  svg.append(shape("text", { x: EDGE.left, y: HEIGHT - 5 }, "0"));
  svg.append(shape("text", { x: WIDTH - EDGE.right, y: HEIGHT - 5, "text-anchor": "end" }, known.length ? `${most.toLocaleString("en")} read` : "read"));
  if (known.length > 1) {
    const upper = known.map((point) => `${x(point.read)},${y(point.high)}`);
    const lower = known.map((point) => `${x(point.read)},${y(point.low)}`).reverse();
    svg.append(shape("polygon", { class: "band", points: [...upper, ...lower].join(" ") }));
    const line = known.map((point) => `${x(point.read)},${y(point.coverage)}`);
    svg.append(shape("polyline", { class: "line", points: line.join(" ") }));
  }
  const last = known[known.length - 1];
  if (last) {
    const place = x(last.read);
    svg.append(shape("line", { class: "line", x1: place, x2: place, y1: y(last.low), y2: y(last.high), opacity: 0.5 }));
    svg.append(shape("circle", { class: "now", cx: place, cy: y(last.coverage), r: 4 }));
  }
  return svg;
}
