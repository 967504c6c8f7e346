// What would have to change: the cheapest changes of the case in the form that lead past a threshold, exactly.
// The same search as sparsegam.deploy._counterfactual: sets of moves that nothing beats, grown feature by feature.

const TOUCH = 0.01, ROUND = 5, HAIR = 1e-9, MOST_PLACES = 5000;
const priced = report.features.every((feature) => feature.prices || feature.kind === "category" || feature.kind === "boolean");

function nextUp(value) {
  const floats = new Float64Array([value]), bits = new BigInt64Array(floats.buffer);
  if (value === 0) return Number.MIN_VALUE;
  bits[0] += value > 0 ? 1n : -1n;
  return floats[0];
}

// ---- where a feature could go: what that costs and gains

function rowsBetween(prices, before, after) {
  if (!prices) return 0;
  const { edges, upto, above } = prices, last = edges.length - 1;
  const below = (value) => {
    if (value <= edges[0]) return upto[0];
    if (value >= edges[last]) return upto[last];
    const i = edges.findIndex((edge) => value <= edge);
    return upto[i - 1] + ((value - edges[i - 1]) / (edges[i] - edges[i - 1])) * (upto[i] - upto[i - 1]);
  };
  const start = before < edges[0] ? upto[0] / 2 : before > edges[last] ? upto[last] + above / 2 : below(before);
  return Math.abs(below(after) - start);
}

function costOf(feature, before, after) {
  const passed = feature.kind === "category" || feature.kind === "boolean" ? 1 : rowsBetween(feature.prices, before, after);
  return priced ? TOUCH + passed : 1 + 1e-6 * passed;
}

// All that cuts a feature: its own function, and its cells in pairs.
const cutsOf = (feature) => [feature, ...report.pairs.flatMap((pair) => pair.cells.filter((_, i) => pair.names[i] === feature.name))];
const edgesOf = (feature) => [...new Set(cutsOf(feature).flatMap((one) => one.edges))].sort((a, b) => a - b);
const isWhole = (feature, value) => feature.kind !== "number" || [value, ...edgesOf(feature)].every(Number.isInteger);

function slopeAt(feature, high) {
  const i = feature.edges.findIndex((edge) => edge >= high);
  return Number.isFinite(high) && i >= 0 ? feature.slopes[i] : 0;
}

function intervals(feature, before, special) {
  const edges = edgesOf(feature), whole = isWhole(feature, before), out = [];
  [...edges, Infinity].forEach((high, i) => {
    const low = i ? edges[i - 1] : -Infinity, slope = slopeAt(feature, high);
    let first = whole ? low + 1 : Number.isFinite(low) ? nextUp(low) : low;
    while (special.includes(first) && first < high) first = nextUp(first);
    if (low < before && before <= high) { if (slope) for (const end of [first, high]) if (end !== before) out.push([before, end]); }
    else if (before <= low) out.push([first, slope ? high : first]);
    else out.push([high, slope ? first : high]);
  });
  return out;
}

function waysOf(feature, before) {
  const special = cutsOf(feature).flatMap((one) => one.special.map((value) => value.number));
  if (before === null || Number.isNaN(before) || special.includes(before)) return [];
  return feature.levels.length ? feature.levels.map((_, i) => [i, i]).filter(([i]) => i !== before) : intervals(feature, before, special);
}

// Features that pairs link, directly or by way of others, move together.
function blocksOf(features) {
  let found = features.map((feature) => [feature]);
  for (const pair of report.pairs) {
    const linked = found.filter((block) => block.some((feature) => pair.names.includes(feature.name)));
    found = [...found.filter((block) => !linked.includes(block)), ...(linked.length ? [linked.flat()] : [])];
  }
  return found;
}

const product = (lists) => lists.reduce((rows, list) => rows.flatMap((row) => list.map((one) => [...row, one])), [[]]);

function movesOf(block, sign, free) {
  const ways = block.map((feature) => (free(feature) ? waysOf(feature, values.get(feature)) : [])), before = block.map((feature) => values.get(feature));
  const corners = ways.map((mine, i) => [...new Set([before[i], ...mine.flat()])]), all = report.pairs.filter((pair) => block.some((feature) => feature.name === pair.names[0]));
  const adds = (numbers) => {
    const there = new Map(block.map((feature, i) => [feature, numbers[i]]));
    return block.reduce((sum, feature, i) => sum + (feature.own ? contribution(feature, numbers[i]) : 0), 0) + all.reduce((sum, pair) => sum + together(pair, there), 0);
  };
  const now = adds(before);
  const place = (numbers, moving) => ({ numbers, gain: sign * (adds(numbers) - now), cost: numbers.reduce((sum, value, i) => sum + (ways[i].length && (i === moving || value !== before[i]) ? costOf(block[i], before[i], value) : 0), 0) });
  if (corners.reduce((n, list) => n * list.length, 1) > MOST_PLACES) return null;
  const out = undominated(product(corners).map((numbers) => place(numbers))).map((there) => ({ block, near: there, far: there }));
  const beaten = (near, far) => out.some((move) => move.near.cost <= near.cost && move.near.gain >= far.gain);
  const along = [];
  ways.forEach((mine, i) => {
    const sloped = mine.filter(([near, far]) => near !== far);
    if (sloped.length) for (const ends of product(corners.map((list, j) => (j === i ? sloped : list.map((value) => [value, value]))))) along.push({ block, near: place(ends.map(([near]) => near), i), far: place(ends.map(([, far]) => far), i) });
  });
  return [...out, ...along.filter((move) => rise(move) > 0 && !beaten(move.near, move.far))].filter((move) => Math.max(move.near.gain, move.far.gain) > 0);
}

// Of places or sets of moves by cost and gain, those that no other beats.
function undominated(all) {
  let top = -Infinity;
  return all.sort((a, b) => a.cost - b.cost || b.gain - a.gain).filter((one) => { if (one.gain <= top) return false; top = one.gain; return true; });
}

// ---- the cheapest set of moves that gains enough; along straight pieces at most one is made in part

const rise = (move) => move.far.gain - move.near.gain;
const mostOf = (moves) => Math.max(0, ...moves.flatMap((move) => [move.near.gain, move.far.gain]));
const rateOf = (moves) => Math.min(Infinity, ...moves.flatMap((move) => [move.near, move.far]).filter((place) => place.gain > 0).map((place) => place.cost / place.gain));

function cheapest(all, need) {
  if (need <= 0) return { cost: 0, made: [] };
  const features = all.filter((moves) => moves.length).sort((a, b) => mostOf(b) - mostOf(a));
  let best = null;
  const offer = (cost, made) => { if (!best || cost < best.cost) best = { cost, made }; };

  const grown = (front, joining, later) => {
    joining.forEach((moves, i) => {
      const rest = [...joining.slice(i + 1), ...later], most = rest.reduce((sum, one) => sum + mostOf(one), 0), rate = Math.min(Infinity, ...rest.map(rateOf));
      const next = [];
      for (const set of front) {
        const add = (place, move) => {
          const gain = Math.min(set.gain + place.gain, need), cost = set.cost + place.cost, lacking = need - gain;
          if (gain + most < need - 1e-12 || (best && cost + (lacking > 0 ? lacking * rate : 0) >= best.cost)) return;
          next.push({ cost, gain, made: move ? [...set.made, [move, place]] : set.made });
        };
        add({ cost: 0, gain: 0 }, null);
        for (const move of moves) { add(move.near, move); if (move.far !== move.near) add(move.far, move); }
      }
      front = undominated(next);
    });
    return front;
  };

  const finish = (front, moves) => {
    for (const set of front) {
      const lacking = need - set.gain;
      if (lacking <= 0) offer(set.cost, set.made);
      for (const move of moves) {
        for (const place of [move.near, move.far]) if (place.gain >= lacking) offer(set.cost + place.cost, [...set.made, [move, place]]);
        const share = (lacking - move.near.gain) / rise(move), mix = (part) => move.near[part] + share * (move.far[part] - move.near[part]);
        if (rise(move) > 0 && share > 0 && share < 1) offer(set.cost + mix("cost"), [...set.made, [move, { numbers: move.near.numbers.map((near, i) => near + share * (move.far.numbers[i] - near)), cost: mix("cost"), gain: lacking }]]);
      }
    }
  };

  const leaveOne = (front, last) => {
    if (!front.length) return;
    if (last.length === 1) { finish(front, last[0]); return; }
    const halves = [last.slice(0, last.length >> 1), last.slice(last.length >> 1)];
    for (const [inside, outside] of [halves, [halves[1], halves[0]]]) leaveOne(grown(front, outside, inside), inside);
  };

  const sloped = features.filter((moves) => moves.some((move) => rise(move) > 0)), last = sloped.length ? sloped : features.slice(-1);
  if (last.length) leaveOne(grown([{ cost: 0, gain: 0, made: [] }], features.filter((moves) => !last.includes(moves)), last), last);
  return best;
}

// The features that a move changes; on a straight piece to the next round number on the way, whole where the feature is.
function changed(move, place) {
  return move.block.map((feature, i) => {
    const value = place.numbers[i], near = move.near.numbers[i], far = move.far.numbers[i];
    if (value === near || value === far) return [feature, value];
    const up = far > near, scale = 10 ** (isWhole(feature, values.get(feature)) ? 0 : ROUND - Math.floor(Math.log10(Math.abs(far - near))));
    const next = (up ? Math.ceil(value * scale) : Math.floor(value * scale)) / scale;
    return [feature, up ? Math.min(next, far) : Math.max(next, far)];
  }).filter(([feature, value]) => value !== values.get(feature) && !(Number.isNaN(value) && Number.isNaN(values.get(feature))));
}

function counterfactual(threshold, free) {
  const now = score(values), sign = threshold >= now ? 1 : -1, all = blocksOf(report.features).map((block) => movesOf(block, sign, free));
  if (all.includes(null)) return undefined;
  const need = sign * (threshold - now);
  for (const further of [0, HAIR * (1 + Math.abs(now) + Math.abs(need))]) {
    const found = cheapest(all, need + further);
    if (!found) continue;
    const changes = found.made.flatMap(([move, place]) => changed(move, place)), after = new Map([...values, ...changes]);
    if (sign * score(after) >= sign * threshold) return { changes, score: score(after), cost: changes.reduce((sum, [feature, value]) => sum + costOf(feature, values.get(feature), value), 0) };
  }
  return null;
}

// ---- its part of the form

const frozen = new Set();

function changePart() {
  const box = byId("change"), classes = report.classes;
  const input = make("input", { id: "goal", type: "number", step: "any", ...(classes ? { min: 0.1, max: 99.9, value: 50 } : { value: number(report.baseline, 4).replace("−", "-") }) });
  const label = make("label", { for: "goal" }, classes ? `Probability of ${classes[1]} to get to, in % ` : "Prediction to get to ", input);
  const ticks = report.features.map((feature, i) => {
    const tick = make("input", { type: "checkbox", id: "free-" + i, checked: "" });
    tick.addEventListener("input", () => { if (tick.checked) frozen.delete(feature); else frozen.add(feature); showChange(); });
    return make("label", { for: "free-" + i }, tick, " " + feature.label);
  });
  const out = make("div", { id: "change-out", role: "status", "aria-live": "polite" });
  box.append(make("p", { class: "hint" }, "The cheapest changes of this case that get there" + (priced ? ": each costs the share of the training rows that it passes, a change of a category all of them." : ", the fewest.") + " Missing and special values stay as they are."),
    label, make("fieldset", { class: "ticks" }, make("legend", {}, "May change"), ...ticks), out);
  input.addEventListener("input", showChange);
  box.addEventListener("toggle", showChange);
}

function showChange() {
  const box = byId("change"), out = byId("change-out");
  if (!box.open) return;
  const goal = Number(byId("goal").value) / (report.classes ? 100 : 1);
  if ([...values.values()].includes(null) || !Number.isFinite(goal) || (report.classes && !(goal > 0 && goal < 1))) { out.replaceChildren(make("p", {}, report.classes ? "Please give a probability between 0 and 100 %." : "Please give a number.")); return; }
  const found = counterfactual(report.classes ? Math.log(goal / (1 - goal)) / report.slope : goal, (feature) => !frozen.has(feature));
  out.dataset.cost = found ? String(found.cost) : "";
  if (found === undefined) { out.replaceChildren(make("p", {}, "Features that go together have too many places to look at: let fewer of them change.")); return; }
  if (!found) { out.replaceChildren(make("p", {}, "No changes of these features lead there.")); return; }
  if (!found.changes.length) { out.replaceChildren(make("p", {}, "It is there already.")); return; }
  const rows = found.changes.map(([feature, value]) => [feature.label, words(feature, values.get(feature)), words(feature, value), signed(score(new Map([...values, [feature, value]])) - score(values))]);
  const then = report.classes ? `${fixed(100 * probability(found.score), 1)} %` : number(found.score, 5);
  out.replaceChildren(table(`Changes that lead to ${then}`, ["feature", "now", "then", "adds"], rows));
}
