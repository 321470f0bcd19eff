// Chapter 6: one needle cannot point at two people; two needles keep two answers apart.

import { point, print, share } from "./base.js";
import { average, distance, islandScores, softmax } from "./formulas.js";
import { angleAt, dial, map, onMap } from "./island.js";

export const controls = ({ sharpness }) => [
  { name: "second", label: "A second needle", kind: "switch", value: false },
  { name: "sharpness", label: "Sharpness β", min: 0, max: 40, step: 0.01, value: sharpness },
  { name: "angle", label: "Needle", min: 0, max: 359, step: 1, value: 45, unit: "°", turns: true },
  { name: "other", label: "Second needle", min: 0, max: 359, step: 1, value: 90, unit: "°", turns: true },
];

const BOX = "-24 -14 348 312"; // two weights beside each key

export function compute({ sharpness, angle, other }, data) {
  const weights = [angle, other].map((turned) => softmax(islandScores(turned, sharpness, data)));
  const answers = weights.map((row) => average(row, data.values));
  return { weights, answers, apart: distance(...answers) };
}

export function panels({ state, values, data }, before) {
  const [first, second] = values.answers;
  if (!state.second) {
    const weights = values.weights[0];
    const ghosts = before && !before.state.second ? [before.values.answers[0]] : [];
    const needles = [{ angle: state.angle }, { hidden: true }];
    return [dial(data, { needles, weights, labelsAt: 1.54, box: BOX }), map(data, { answers: [{ at: first, weights }], ghosts })];
  }
  const needles = [{ angle: state.angle, label: "q₁" }, { angle: state.other, label: "q₂", length: 0.62 }];
  const labels = data.names.map((name, j) => [name, values.weights.map((row) => share(row[j])).join(" · ")]);
  const [from, to] = [first, second].map(onMap);
  const ruler = `<path class="ruler" d="M${from}L${to}"/>`;
  const answers = [{ at: first }, { at: second, label: values.apart < 1.5 ? "" : undefined }];
  const says = `Map, two answers ${print(values.apart)} km apart.`;
  return [dial(data, { needles, labels, labelsAt: 1.54, box: BOX }), map(data, { answers, over: ruler, says })];
}

export const table = ({ state, values, data }) => ({
  head: ["radio", "first needle", ...(state.second ? ["second needle"] : [])],
  body: [
    ...data.names.map((name, j) => [name, ...used(state, values.weights).map((row) => print(row[j], 4))]),
    ["answer", ...used(state, values.answers).map((at) => point(at, 3))],
    ...(state.second ? [["km apart", print(values.apart, 3), ""]] : []),
  ],
});

const used = ({ second }, both) => (second ? both : both.slice(0, 1));

export function say({ state, values, data }) {
  if (state.second) {
    const [one, two] = values.answers.map((at) => point(at));
    return `Two answers, at ${one} and ${two}. The ruler between them reads ${print(values.apart)} km.`;
  }
  const [row] = values.weights;
  const order = row.map((weight, j) => [weight, data.names[j]]).sort(([a], [b]) => b - a);
  const [loudest, next] = order.map(([weight, name]) => `${name} (${share(weight)})`);
  if (order[0][0] - order[3][0] < 1e-9) return "All four are equally loud.";
  return `Loudest are ${loudest} and ${next}. The star is at ${point(values.answers[0])}.`;
}

const apart = (a, b) => Math.abs(((a - b + 540) % 360) - 180);

export const drag = {
  dial(place, { second, angle, other }, _, grip) {
    const turned = angleAt(place);
    const otherIsNearer = grip === "1" || (grip === "" && apart(turned, other) < apart(turned, angle));
    return second && otherIsNearer ? { other: turned } : { angle: turned };
  },
};
