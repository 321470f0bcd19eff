// The dial and the map. Area, spoke and printed number all say the weight; never colour alone.

import { curve, point, print, share, text } from "./base.js";
import { distance, onTheDial } from "./formulas.js";

const CENTRE = [150, 142];
const RADIUS = 88;
const REACH = 0.74;
const KM = 24;

export const onDial = ([x, y], radius = 1) => [CENTRE[0] + radius * RADIUS * x, CENTRE[1] - radius * RADIUS * y];
export const onMap = ([east, north]) => [42 + KM * east, 232 - KM * north];
export const fromMap = ([x, y]) => [(x - 42) / KM, (232 - y) / KM];

/** The angle of a pointer on the dial, in whole degrees from 0 to 359. */
export function angleAt([x, y]) {
  const degrees = (Math.atan2(CENTRE[1] - y, x - CENTRE[0]) * 180) / Math.PI;
  return (Math.round(degrees) + 360) % 360;
}

/** `needles`: {angle, label, length, hidden}; what is drawn further, `extra`, is under the markers. */
export function dial(data, { needles = [], weights, extra = "", labels, labelsAt = 1.4, box, title = "the dial: keys and query", says }) {
  const noted = labels ?? data.names.map((name, j) => [name, weights ? share(weights[j]) : ""]);
  const keys = data.keys.map((key, j) => {
    const [x, y] = onDial(key);
    const [tx, ty] = onDial(key, labelsAt);
    return (
      marker(data.markers[j], x, y, weights ? weights[j] : 0.12, j, data.names[j][0]) +
      text(tx, ty - 2, noted[j][0], "name") + text(tx, ty + 13, noted[j][1], "number")
    );
  });
  const said = data.names.map((name, j) => `${name} ${weights ? share(weights[j]) : ""}`.trim()).join(", ");
  const pointing = needles.map(({ angle }) => `${print(angle, 0)} degrees`).join(" and ");
  return {
    name: "dial",
    title,
    width: 300,
    height: 284,
    box,
    says: says ?? `Dial, needle at ${pointing}: ${said}.`,
    body: [
      `<circle class="ring" cx="${CENTRE[0]}" cy="${CENTRE[1]}" r="${RADIUS}"/>`,
      extra,
      ...needles.filter(({ hidden }) => !hidden).map(needle),
      ...keys,
    ].join(""),
    grips: needles.map((h, i) => [i, ...(h.hidden ? [-99, -99] : onDial(onTheDial(h.angle), (h.length ?? REACH) - 0.06))]),
  };
}

export function needle({ angle, label = "q", length = REACH }) {
  const way = onTheDial(angle);
  const [x, y] = onDial(way, length);
  const beside = onDial([way[0] * length * 0.5 - way[1] * 0.13, way[1] * length * 0.5 + way[0] * 0.13]);
  return (
    `<circle class="hub" cx="${CENTRE[0]}" cy="${CENTRE[1]}" r="4"/>` +
    arrow(CENTRE, [x, y], "needle") +
    text(beside[0], beside[1] + 4, label, "symbol")
  );
}

export function arrow(from, to, kind) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 1) return "";
  const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const head = Math.min(11, length);
  const back = [to[0] - head * ux, to[1] - head * uy];
  const wing = (side) => [back[0] - side * uy * head * 0.45, back[1] + side * ux * head * 0.45];
  const tip = [to, wing(1), wing(-1)].map((p) => p.map((x) => x.toFixed(1))).join(" ");
  return `${curve([from, back], kind)}<polygon class="${kind} head" points="${tip}"/>`;
}

/** `answers`: {at, weights, label}; a spoke for each weight of the first; `ghost`: where it was. */
export function map(data, { answers, ghosts = [], extra = "", over = "", title = "the map: values and answer", says }) {
  const [{ at, weights } = {}] = answers;
  const star = at && onMap(at);
  const spokes = (weights ?? []).map(
    (weight, j) =>
      `<line class="spoke who${j}" x1="${onMap(data.values[j])[0]}" y1="${onMap(data.values[j])[1]}" ` +
      `x2="${star[0].toFixed(2)}" y2="${star[1].toFixed(2)}" stroke-width="${(14 * weight).toFixed(2)}"/>`,
  );
  const places = data.values.map((place, j) => {
    const [x, y] = onMap(place);
    const words = `${data.names[j]}, ${data.places[j]}`;
    const west = place[0] < data.centre[0];
    const label = text(west ? x - 12 : x + 12, place[1] < data.centre[1] ? y + 32 : y - 24, words, west ? "name start" : "name end");
    return marker(data.markers[j], x, y, weights ? weights[j] : 0.12, j, data.names[j][0]) + label;
  });
  const stars = answers.map(({ at: [east, north], label }) => {
    const [x, y] = onMap([east, north]);
    const words = label ?? point([east, north]);
    return `<path class="star" d="${STAR}" transform="translate(${x.toFixed(2)} ${y.toFixed(2)})"/>${text(x, north < 2 ? y - 16 : y + 25, words, "number halo")}`;
  });
  return {
    name: "map",
    title,
    width: 320,
    height: 284,
    says: says ?? `Map, answer at ${answers.map((a) => point(a.at)).join(" and ")}.`,
    body: [
      axes(),
      extra,
      ...spokes,
      ...ghosts.map((at) => `<path class="ghost" d="${STAR}" transform="translate(${onMap(at).map((x) => x.toFixed(2)).join(" ")})"/>`),
      ...places,
      over,
      ...stars,
    ].join(""),
  };
}

function axes() {
  const east = [0, 2, 4, 6, 8, 10].map((km) => text(onMap([km, 0])[0], 275, km, "tick"));
  const north = [0, 2, 4, 6, 8].map((km) => text(16, onMap([0, km])[1] + 4, km, "tick"));
  const [x, y] = onMap([0, 0]);
  return (
    `<path class="axis" d="M28 28V260H306"/>${east.join("")}${north.join("")}` +
    text(312, 256, "km", "tick end") + `<path class="sea" d="M${x - 4} ${y - 4}l8 8m0-8l-8 8"/>` + text(x, y + 17, "sea", "tick")
  );
}

const STAR = starPath(11, 4.4);
function starPath(outer, inner) {
  const corner = (i) => {
    const radius = i % 2 ? inner : outer;
    const angle = (Math.PI * i) / 5;
    return `${(radius * Math.sin(angle)).toFixed(2)} ${(-radius * Math.cos(angle)).toFixed(2)}`;
  };
  return `M${Array.from({ length: 10 }, (_, i) => corner(i)).join("L")}Z`;
}

/** A person's marker: its area grows with the weight. `shape` is the marker's name in matplotlib. */
export function marker(shape, x, y, weight, who, letter = "", kind = "") {
  const area = 190 + 900 * weight;
  const half = Math.sqrt(area) / 2;
  const polygon = (corners) => `<polygon points="${corners.map(([a, b]) => `${(x + a).toFixed(2)},${(y + b).toFixed(2)}`).join(" ")}"/>`;
  const drawn = {
    o: () => `<circle cx="${x}" cy="${y}" r="${Math.sqrt(area / Math.PI).toFixed(2)}"/>`,
    s: () => polygon([[-half, -half], [half, -half], [half, half], [-half, half]]),
    "^": () => polygon([[0, -1.5 * half], [1.52 * half, 1.13 * half], [-1.52 * half, 1.13 * half]]),
    D: () => polygon([[0, -1.42 * half], [1.42 * half, 0], [0, 1.42 * half], [-1.42 * half, 0]]),
  };
  return `<g class="marker who${who} ${kind}">${drawn[shape]()}${text(x, y + 4, letter, "letter")}</g>`;
}

/** What a star did, in words; `before` may be missing. */
export function moved(before, after, whose = "The star") {
  const km = before && !before.some(Number.isNaN) ? distance(before, after) : null;
  if (km === null) return `${whose} is at ${point(after)}.`;
  if (km < 0.005) return `${whose} stays at ${point(after)}.`;
  return `${whose} moves ${print(km)} km, to ${point(after)}.`;
}
