// One head as lines between two columns of words.

const bands = 16;        // of line strength, each drawn in one stroke
const mostLines = 2000;  // drawn at once; more would be a blur
const tallest = 16000;   // pixels that every browser's canvas can have

const linesView = { queries: [], keys: [], only: null, row: 22 };  // the shown places, the word whose lines are
                                                                    // seen, the height of a row

function lineColour(ramp, sign) {
  return asText(cssColour(!ramp.signed ? '--line' : sign > 0 ? '--plus-2' : '--minus-2'));
}

/** The magnitude from which lines are drawn: 2 % of the reach, or more where there would be too many. */
function faintest(values, stride, reach) {
  const floor = reach / 50;
  const sizes = linesView.queries.flatMap((query) => linesView.keys.filter((key) => isLineShown(query, key))
    .map((key) => Math.abs(values[query * stride + key])).filter((size) => size >= floor));
  return sizes.length > mostLines ? Float32Array.from(sizes).sort().at(-mostLines) : floor;
}

/** Paths of lines of about the same strength, by sign: [{ sign, strength, path }]. */
function linePaths(values, stride, reach, from, width) {
  const paths = new Map();
  const middle = (index) => (index + 0.5) * linesView.row;
  linesView.queries.forEach((query, i) => linesView.keys.forEach((key, j) => {
    if (!isLineShown(query, key)) return;
    const value = values[query * stride + key];
    const band = Math.ceil(Math.min(1, Math.abs(value) / reach) * bands);
    if (!(band > 0) || Math.abs(value) < from) return;
    const id = Math.sign(value) * band;
    if (!paths.has(id)) paths.set(id, new Path2D());
    const path = paths.get(id);
    path.moveTo(0, middle(i));
    path.bezierCurveTo(width * 0.4, middle(i), width * 0.6, middle(j), width, middle(j));
  }));
  return [...paths].sort(([a], [b]) => Math.abs(a) - Math.abs(b))
    .map(([id, path]) => ({ sign: Math.sign(id), strength: Math.abs(id) / bands, path }));
}

function isLineShown(query, key) {
  const { only } = linesView;
  return !only || (only.side === 'queries' ? only.place === query : only.place === key);
}

function drawLines() {
  const layer = chosenLayer(), values = layer.matrix(state.quantity, chosenHead());
  const canvas = byId('lines').querySelector('canvas');
  if (!canvas) return;
  const width = canvas.clientWidth;
  const height = Math.max(linesView.queries.length, linesView.keys.length) * linesView.row;
  const context = sizedContext(canvas, width, height);
  const ramp = rampOf(state.quantity, reachOf(state.quantity, layer, chosenHead()));
  const from = faintest(values, layer.keys.length, ramp.largest);
  for (const { sign, strength, path } of linePaths(values, layer.keys.length, ramp.largest, from, width)) {
    context.globalAlpha = strength;
    context.lineWidth = 0.75 + 2 * strength;
    context.strokeStyle = lineColour(ramp, sign);
    context.stroke(path);
  }
  tintWords(layer, values, ramp);
  byId('lines-note').textContent = from > ramp.largest / 50
    ? `The ${mostLines} strongest lines are drawn, those from ${format(from)}.` : '';
}

/** A context whose unit is a pixel of the style sheet. */
function sizedContext(canvas, width, height) {
  const ratio = Math.min(devicePixelRatio, 2, tallest / height);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  return context;
}

/** Behind the words at the other end of the lines of one word: how strong each is. */
function tintWords(layer, values, ramp) {
  const { only } = linesView;
  for (const word of byId('lines').querySelectorAll('.word')) {
    const { side, place } = word.dataset;
    const isOther = only && side !== only.side;
    const [query, key] = side === 'keys' ? [only?.place, Number(place)] : [Number(place), only?.place];
    const value = isOther ? values[query * layer.keys.length + key] : 0;
    word.style.setProperty('--tint', isOther ? asText(ramp.colour(value)) : 'transparent');
    word.classList.toggle('only', Boolean(only) && side === only.side && Number(place) === only.place);
    word.classList.toggle('strong', isOther && isDark(ramp.colour(value)));
    word.classList.toggle('weak', isOther && !isDark(ramp.colour(value)));
  }
}

const isDark = ([red, green, blue]) => 0.3 * red + 0.59 * green + 0.11 * blue < 140;

function lookAt(only) {
  linesView.only = only;
  drawLines();
  byId('lines-readout').textContent = only ? describeWord(only) : '';
}

/** The three strongest lines of a word. */
function describeWord({ side, place }) {
  const layer = chosenLayer(), values = layer.matrix(state.quantity, chosenHead());
  const other = side === 'queries' ? 'keys' : 'queries';
  const valueOf = (end) =>
    values[side === 'queries' ? place * layer.keys.length + end : end * layer.keys.length + place];
  const ends = [...linesView[other]].sort((a, b) => Math.abs(valueOf(b)) - Math.abs(valueOf(a))).slice(0, 3);
  const list = ends.map((end) => `${isolated(layer[other][end].text)} ${format(valueOf(end))}`);
  const arrow = side === 'queries' ? '\u2192' : '\u2190';
  return `${isolated(layer[side][place].text)} ${arrow} ${list.join(', ')}`;
}

function makeWord(layer, side, place) {
  const { text, special } = layer[side][place];
  const only = { side, place };
  return makeToken(text, {
    class: special ? 'word special' : 'word', role: 'option', 'data-side': side, 'data-place': place,
    onpointerenter: () => lookAt(only), onpointerleave: () => lookAt(null),
    onfocus: () => lookAt(only), onblur: () => lookAt(null),
  });
}

function makeColumn(layer, side) {
  const words = linesView[side].map((place) => makeWord(layer, side, place));
  const name = side === 'queries' ? 'Queries' : 'Keys';
  rove(words, 0, (key, index) => index + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? NaN));
  return make('div', { class: `words ${side}` }, make('div', { class: 'axis' }, name.toLowerCase()),
              make('div', { role: 'listbox', 'aria-label': name }, ...words));
}

function drawHead() {
  const layer = chosenLayer();
  byId('head-name').replaceChildren(makeToken(layer.label), ` \u00b7 ${nameOfHead(chosenHead())}`);
  linesView.queries = shownPlaces(layer.queries);
  linesView.keys = shownPlaces(layer.keys);
  linesView.only = null;
  byId('lines-note').textContent = '';
  linesView.row = Math.max(linesView.queries.length, linesView.keys.length) > 20 ? 22 : 32;
  byId('lines').style.setProperty('--row', `${linesView.row}px`);
  if (!layer.has(state.quantity)) {
    byId('lines').replaceChildren(makeNote('Gradients of this layer were not recorded.'));
    return;
  }
  byId('lines').replaceChildren(makeColumn(layer, 'queries'), make('canvas', { 'aria-hidden': 'true' }),
                                makeColumn(layer, 'keys'));
  drawLines();
}

/** All numbers of the head: a row for each pair of words. */
function headTable() {
  const layer = chosenLayer(), shown = Object.keys(quantities).filter((quantity) => layer.has(quantity));
  const matrices = shown.map((quantity) => layer.matrix(quantity, chosenHead()));
  const rows = shownPlaces(layer.queries).flatMap((query) => shownPlaces(layer.keys).map((key) => [
    query, layer.queries[query].text, key, layer.keys[key].text,
    ...matrices.map((values) => values[query * layer.keys.length + key])]));
  return { columns: ['query place', 'query', 'key place', 'key',
                     ...shown.map((quantity) => quantities[quantity].noun)], rows };
}

function setUpHeadView() {
  byId('head').hidden = false;
  drawOn(['quantity', 'layer', 'head', 'mean', 'hideSpecial'], drawHead);
  drawOn(['scale', 'layers', 'theme', 'width'], drawLines);
  addTable(byId('head-table'), 'head', ['layer', 'head', 'mean', 'hideSpecial'], headTable);
  drawHead();
}
