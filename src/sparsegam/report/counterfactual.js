// Counterfactuals: the cheapest changes of the case in the form that move its score past a target.
//
// This is the same exact search as in `counterfactual` of the Python package. A move changes the features of a block
// (one feature, or features linked by interactions) and has a cost and a gain of score. Sets of moves are built block
// by block; a set is dropped if another one costs no more and gains no less.

// Cost of any change, in addition to its share of rows; digits of rounded values; margin against rounding; limit on the
// combinations of values of a block.
const TOUCH_COST = 0.01, DIGITS = 5, MARGIN = 1e-9, MAX_COMBINATIONS = 5000;

// The cost of a change is the share of training rows between the old and the new value. If the distribution of a numeric
// feature is unknown, changes are counted instead.
const hasDistributions = report.features.every((feature) => feature.distribution || feature.kind === "category" || feature.kind === "boolean");

function nextUp(value) {
  const floats = new Float64Array([value]), bits = new BigInt64Array(floats.buffer);
  if (value === 0) return Number.MIN_VALUE;
  bits[0] += value > 0 ? 1n : -1n;
  return floats[0];
}

// ---- candidate values of a feature, their cost and gain

function rowsBetween(distribution, before, after) {
  if (!distribution) return 0;
  const { edges, below, above } = distribution, last = edges.length - 1;
  const shareBelow = (value) => {
    if (value <= edges[0]) return below[0];
    if (value >= edges[last]) return below[last];
    const i = edges.findIndex((edge) => value <= edge);
    return below[i - 1] + ((value - edges[i - 1]) / (edges[i] - edges[i - 1])) * (below[i] - below[i - 1]);
  };
  const start = before < edges[0] ? below[0] / 2 : before > edges[last] ? below[last] + above / 2 : shareBelow(before);
  return Math.abs(shareBelow(after) - start);
}

function changeCost(feature, before, after) {
  const share = feature.kind === "category" || feature.kind === "boolean" ? 1 : rowsBetween(feature.distribution, before, after);
  return hasDistributions ? TOUCH_COST + share : 1 + 1e-6 * share;
}

// The functions that depend on a feature: its own and those of its interactions.
const functionsOf = (feature) => [feature, ...report.interactions.flatMap((one) => one.bins.filter((_, i) => one.names[i] === feature.name))];
const edgesOf = (feature) => [...new Set(functionsOf(feature).flatMap((one) => one.edges))].sort((a, b) => a - b);
const isWhole = (feature, value) => feature.kind !== "number" || [value, ...edgesOf(feature)].every(Number.isInteger);

function slopeBelow(feature, high) {
  const i = feature.edges.findIndex((edge) => edge >= high);
  return Number.isFinite(high) && i >= 0 ? feature.slopes[i] : 0;
}

// Return [nearest, farthest] value of each interval between thresholds; both are equal if the contribution is constant.
function intervalsOf(feature, before, special) {
  const edges = edgesOf(feature), whole = isWhole(feature, before), out = [];
  [...edges, Infinity].forEach((high, i) => {
    const low = i ? edges[i - 1] : -Infinity, slope = slopeBelow(feature, high);
    let first = whole ? low + 1 : Number.isFinite(low) ? nextUp(low) : low;
    while (special.includes(first) && first < high) first = nextUp(first);
    if (low < before && before <= high) { if (slope) for (const end of [first, high]) if (end !== before) out.push([before, end]); }
    else if (before <= low) out.push([first, slope ? high : first]);
    else out.push([high, slope ? first : high]);
  });
  return out;
}

function candidatesOf(feature, before) {
  const special = functionsOf(feature).flatMap((one) => one.special.map((value) => value.number));
  if (before === null || Number.isNaN(before) || special.includes(before)) return [];
  return feature.levels.length ? feature.levels.map((_, i) => [i, i]).filter(([i]) => i !== before) : intervalsOf(feature, before, special);
}

// Features linked by interactions, directly or through others, change together.
function blocksOf(features) {
  let blocks = features.map((feature) => [feature]);
  for (const interaction of report.interactions) {
    const linked = blocks.filter((block) => block.some((feature) => interaction.names.includes(feature.name)));
    blocks = [...blocks.filter((block) => !linked.includes(block)), ...(linked.length ? [linked.flat()] : [])];
  }
  return blocks;
}

const cartesian = (lists) => lists.reduce((rows, list) => rows.flatMap((row) => list.map((one) => [...row, one])), [[]]);

// Return the moves of a block, each with a near and a far end: equal, or the ends of a ramp along which cost and gain
// are linear. Return null if there are too many combinations.
function movesOf(block, sign, isFree) {
  const candidates = block.map((feature) => (isFree(feature) ? candidatesOf(feature, values.get(feature)) : [])), before = block.map((feature) => values.get(feature));
  const choices = candidates.map((mine, i) => [...new Set([before[i], ...mine.flat()])]), interactions = report.interactions.filter((one) => block.some((feature) => feature.name === one.names[0]));
  const blockScore = (numbers) => {
    const after = new Map(block.map((feature, i) => [feature, numbers[i]]));
    return block.reduce((sum, feature, i) => sum + (feature.has_main_effect ? contribution(feature, numbers[i]) : 0), 0) + interactions.reduce((sum, one) => sum + interactionContribution(one, after), 0);
  };
  const scoreBefore = blockScore(before);
  const end = (numbers, moving) => ({ numbers, gain: sign * (blockScore(numbers) - scoreBefore), cost: numbers.reduce((sum, value, i) => sum + (candidates[i].length && (i === moving || value !== before[i]) ? changeCost(block[i], before[i], value) : 0), 0) });
  if (choices.reduce((n, list) => n * list.length, 1) > MAX_COMBINATIONS) return null;
  const constant = undominated(cartesian(choices).map((numbers) => end(numbers))).map((one) => ({ block, near: one, far: one }));
  const isBeaten = (near, far) => constant.some((move) => move.near.cost <= near.cost && move.near.gain >= far.gain);
  const ramps = [];
  candidates.forEach((mine, i) => {
    const sloped = mine.filter(([near, far]) => near !== far);
    if (sloped.length) for (const ends of cartesian(choices.map((list, j) => (j === i ? sloped : list.map((value) => [value, value]))))) ramps.push({ block, near: end(ends.map(([near]) => near), i), far: end(ends.map(([, far]) => far), i) });
  });
  return [...constant, ...ramps.filter((move) => rise(move) > 0 && !isBeaten(move.near, move.far))].filter((move) => Math.max(move.near.gain, move.far.gain) > 0);
}

// Return the candidates that are not dominated: no other one costs no more and gains no less.
function undominated(all) {
  let top = -Infinity;
  return all.sort((a, b) => a.cost - b.cost || b.gain - a.gain).filter((one) => { if (one.gain <= top) return false; top = one.gain; return true; });
}

// ---- the cheapest set of moves that gains enough; in an optimal set, at most one ramp ends between its ends

const rise = (move) => move.far.gain - move.near.gain;
const largestGain = (moves) => Math.max(0, ...moves.flatMap((move) => [move.near.gain, move.far.gain]));
const lowestRate = (moves) => Math.min(Infinity, ...moves.flatMap((move) => [move.near, move.far]).filter((end) => end.gain > 0).map((end) => end.cost / end.gain));

function cheapestSet(all, need) {
  if (need <= 0) return { cost: 0, moves: [] };
  const blocks = all.filter((moves) => moves.length).sort((a, b) => largestGain(b) - largestGain(a));
  let best = null;
  const update = (cost, moves) => { if (!best || cost < best.cost) best = { cost, moves }; };

  // Extend all sets by the moves of some blocks. Drop a set if the remaining blocks cannot supply the missing gain at a
  // total cost below that of the best set so far.
  const extend = (sets, joining, later) => {
    joining.forEach((moves, i) => {
      const rest = [...joining.slice(i + 1), ...later], most = rest.reduce((sum, one) => sum + largestGain(one), 0), rate = Math.min(Infinity, ...rest.map(lowestRate));
      const next = [];
      for (const set of sets) {
        const add = (end, move) => {
          const gain = Math.min(set.gain + end.gain, need), cost = set.cost + end.cost, lacking = need - gain;
          if (gain + most < need - 1e-12 || (best && cost + (lacking > 0 ? lacking * rate : 0) >= best.cost)) return;
          next.push({ cost, gain, moves: move ? [...set.moves, [move, end]] : set.moves });
        };
        add({ cost: 0, gain: 0 }, null);
        for (const move of moves) { add(move.near, move); if (move.far !== move.near) add(move.far, move); }
      }
      sets = undominated(next);
    });
    return sets;
  };

  // Complete all sets with a move of the last block, which may end on a ramp where the target is just reached.
  const finish = (sets, moves) => {
    for (const set of sets) {
      const lacking = need - set.gain;
      if (lacking <= 0) update(set.cost, set.moves);
      for (const move of moves) {
        for (const end of [move.near, move.far]) if (end.gain >= lacking) update(set.cost + end.cost, [...set.moves, [move, end]]);
        const share = (lacking - move.near.gain) / rise(move), mix = (part) => move.near[part] + share * (move.far[part] - move.near[part]);
        if (rise(move) > 0 && share > 0 && share < 1) update(set.cost + mix("cost"), [...set.moves, [move, { numbers: move.near.numbers.map((near, i) => near + share * (move.far.numbers[i] - near)), cost: mix("cost"), gain: lacking }]]);
      }
    }
  };

  // Use each candidate once as the last block, after all others. Recursive halving of the candidates avoids extending the
  // sets by the other blocks anew for each of them.
  const tryEachLast = (sets, candidates) => {
    if (!sets.length) return;
    if (candidates.length === 1) { finish(sets, candidates[0]); return; }
    const halves = [candidates.slice(0, candidates.length >> 1), candidates.slice(candidates.length >> 1)];
    for (const [inside, outside] of [halves, [halves[1], halves[0]]]) tryEachLast(extend(sets, outside, inside), inside);
  };

  const withRamps = blocks.filter((moves) => moves.some((move) => rise(move) > 0)), last = withRamps.length ? withRamps : blocks.slice(-1);
  if (last.length) tryEachLast(extend([{ cost: 0, gain: 0, moves: [] }], blocks.filter((moves) => !last.includes(moves)), last), last);
  return best;
}

// Return the changed features of a move. A value on a ramp is rounded away from the value before the change, to a whole
// number if the feature has whole numbers only.
function changesOf(move, end) {
  return move.block.map((feature, i) => {
    const value = end.numbers[i], near = move.near.numbers[i], far = move.far.numbers[i];
    if (value === near || value === far) return [feature, value];
    const up = far > near, scale = 10 ** (isWhole(feature, values.get(feature)) ? 0 : DIGITS - Math.floor(Math.log10(Math.abs(far - near))));
    const rounded = (up ? Math.ceil(value * scale) : Math.floor(value * scale)) / scale;
    return [feature, up ? Math.min(rounded, far) : Math.max(rounded, far)];
  }).filter(([feature, value]) => value !== values.get(feature) && !(Number.isNaN(value) && Number.isNaN(values.get(feature))));
}

// Return undefined if there are too many combinations, null if the target cannot be reached.
function counterfactual(target, isFree) {
  const now = score(values), sign = target >= now ? 1 : -1, all = blocksOf(report.features).map((block) => movesOf(block, sign, isFree));
  if (all.includes(null)) return undefined;
  const need = sign * (target - now);
  // If the target is missed by a rounding error, search again with a margin.
  for (const margin of [0, MARGIN * (1 + Math.abs(now) + Math.abs(need))]) {
    const found = cheapestSet(all, need + margin);
    if (!found) continue;
    const changes = found.moves.flatMap(([move, end]) => changesOf(move, end)), after = new Map([...values, ...changes]);
    if (sign * score(after) >= sign * target) return { changes, score: score(after), cost: changes.reduce((sum, [feature, value]) => sum + changeCost(feature, values.get(feature), value), 0) };
  }
  return null;
}

// ---- the controls

const fixedFeatures = new Set();

function createCounterfactual() {
  const classes = report.classes;
  const input = make("input", { id: "target", type: "number", step: "any", ...(classes ? { min: 0.1, max: 99.9, value: 50 } : { value: number(report.baseline, 4).replace("−", "-") }) });
  const label = make("label", { for: "target" }, classes ? `Target probability of ${classes[1]} in % ` : "Target prediction ", input);
  const boxes = report.features.map((feature, i) => {
    const box = make("input", { type: "checkbox", id: "free-" + i, checked: "" });
    box.addEventListener("input", () => { if (box.checked) fixedFeatures.delete(feature); else fixedFeatures.add(feature); showCounterfactual(); });
    return make("label", { for: "free-" + i }, box, " " + feature.label);
  });
  const output = make("div", { id: "changes", role: "status", "aria-live": "polite" });
  const cost = hasDistributions ? "The cost of a change is the share of training rows between the old and the new value; changing a category costs as much as passing all rows." : "The cost is the number of changes.";
  byId("counterfactual").append(make("p", { class: "hint" }, `The cheapest changes of this case that reach a target. ${cost} Missing and special values are not changed.`),
    label, make("fieldset", { class: "ticks" }, make("legend", {}, "Features that may change"), ...boxes), output);
  input.addEventListener("input", showCounterfactual);
  byId("counterfactual").addEventListener("toggle", showCounterfactual);
}

function showCounterfactual() {
  if (!byId("counterfactual").open) return;
  const output = byId("changes"), say = (text) => output.replaceChildren(make("p", {}, text));
  const target = Number(byId("target").value) / (report.classes ? 100 : 1);
  if ([...values.values()].includes(null) || !Number.isFinite(target) || (report.classes && !(target > 0 && target < 1))) { say(report.classes ? "Enter a probability between 0 and 100 %." : "Enter a number."); return; }
  const found = counterfactual(report.classes ? Math.log(target / (1 - target)) / report.log_odds_slope : target, (feature) => !fixedFeatures.has(feature));
  output.dataset.cost = found ? String(found.cost) : "";
  if (found === undefined) { say("The interactions allow too many combinations of changes: let fewer features change."); return; }
  if (!found) { say("No change of these features reaches the target."); return; }
  if (!found.changes.length) { say("The target is already reached."); return; }
  const rows = found.changes.map(([feature, value]) => [feature.label, valueText(feature, values.get(feature)), valueText(feature, value), signed(score(new Map([...values, [feature, value]])) - score(values))]);
  const result = report.classes ? `${fixed(100 * probability(found.score), 1)} %` : number(found.score, 5);
  output.replaceChildren(table(`Changes that lead to ${result}`, ["feature", "now", "changed to", "effect on score"], rows));
}
