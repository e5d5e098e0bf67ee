// By which path gradient came to the inputs of a layer: bands as wide as the part of each path.

const measures = {
  share: { label: 'Shares', text: 'share of the whole: its projection on the sum, so that the shares of one word ' +
    'add up to 100\u2009%, and one that pulls against the sum is negative, to the left of the axis.', together: 'all words together' },
  norm: { label: 'Lengths', text: 'length. Lengths do not add up to that of the sum, as parts may cancel; a dark mark ' +
    'shows the sum where it is known.', together: 'the mean over its words' },
};

const pathOrder = ['residual', 'query', 'key', 'value'];
const mostShown = { below: -1, above: 2 };  // of shares: bars that go further end in an arrow

const paths = [...new Set([...pathOrder, ...report.layers.flatMap((layer) =>
  layer.flows.flatMap((flow) => flow.parts.map((part) => part.path)))])];

const colourOfPath = (path) => `var(--path-${paths.indexOf(path) % 8})`;
const orderedParts = (flow) => [...flow.parts].sort((a, b) => paths.indexOf(a.path) - paths.indexOf(b.path));
const formatPart = (value) => (state.measure === 'share' ? formatPercent(value) : format(value));

/** The mean over the shown places. A share counts by the square of the whole it is a share of, so that the mean is
 *  the share of the gradient of all places together. */
function meanOver(flow, valueAt) {
  const weightAt = (place) => (state.measure === 'share' && flow.norm ? flow.norm[place] ** 2 : 1);
  const known = shownPlaces(flow.tokens).filter((place) => Number.isFinite(valueAt(place) * weightAt(place)));
  const sum = (numberAt) => known.reduce((total, place) => total + numberAt(place), 0);
  return sum((place) => valueAt(place) * weightAt(place)) / sum(weightAt);
}

/** The number of one head of a part at one place, or the mean for null. */
function partAt(flow, part, head, place) {
  const valueAt = (at) => part[state.measure][head * flow.tokens.length + at];
  return place === null ? meanOver(flow, valueAt) : valueAt(place);
}

/** The length of the whole at a place, where it is known. */
const wholeAt = (flow, place) => (state.measure === 'norm' && flow.norm && place !== null ? flow.norm[place] : null);

/** The bands of a place, or of the mean: [{ path, head, value }], head null where heads are added up. */
function bandsOf(flow, place, split = state.splitHeads) {
  return orderedParts(flow).flatMap((part) => {
    const values = Array.from({ length: part.heads }, (_, head) => partAt(flow, part, head, place));
    if (split && part.heads > 1) return values.map((value, head) => ({ path: part.path, head, value }));
    return [{ path: part.path, head: null, value: values.reduce((sum, value) => sum + value, 0) }];
  });
}

const sumOf = (bandList, sign) =>
  bandList.reduce((sum, { value }) => sum + (value * sign > 0 ? value : 0), 0);

/** The ends of an axis that holds all bars, within what is shown of shares. */
function axisOf(rows) {
  const low = Math.min(0, ...rows.map((row) => sumOf(row, -1)));
  const high = Math.max(0, ...rows.map((row) => sumOf(row, 1)));
  if (state.measure === 'norm') return { low: 0, high: high || 1 };
  return { low: Math.max(mostShown.below, low), high: Math.min(mostShown.above, Math.max(1, high)) };
}

function makeBar(bandList, { low, high }, whole) {
  const bar = makeSvg('svg', { viewBox: `${low} 0 ${high - low} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const ends = { [1]: 0, [-1]: 0 };
  for (const { path, head, value } of bandList) {
    if (!Number.isFinite(value) || value === 0) continue;
    const sign = Math.sign(value), from = ends[sign];
    ends[sign] += value;
    const band = makeSvg('rect', { x: Math.min(from, ends[sign]), width: Math.abs(value), y: 0.1, height: 0.8,
                                   class: sign < 0 ? 'against' : '', opacity: head % 2 ? 0.7 : 1 });
    band.style.fill = colourOfPath(path);
    bar.append(band);
  }
  for (const mark of state.measure === 'share' ? [0, 1] : [0]) {
    bar.append(makeSvg('line', { x1: mark, x2: mark, y1: 0, y2: 1 }));
  }
  if (whole !== null) bar.append(makeSvg('line', { x1: whole, x2: whole, y1: 0, y2: 1, class: 'whole' }));
  return bar;
}

function arrowsOf(bandList, { low, high }) {
  const slack = (high - low) / 1000;
  return (sumOf(bandList, -1) < low - slack ? '\u25c2' : '') + (sumOf(bandList, 1) > high + slack ? '\u25b8' : '');
}

function describeBands(bandList) {
  const known = bandList.filter(({ value }) => Number.isFinite(value));
  if (!known.length) return [['transparent', 'no gradient']];
  return known.map(({ path, head, value }) =>
    [colourOfPath(path), `${path}${head === null ? '' : `, head ${head}`} ${formatPart(value)}`]);
}

/** Rows of bars: each has a label, bands, and what to do when it is pointed at or pressed. */
function drawBars(place, rows) {
  const axis = axisOf(rows.map(({ bands: bandList }) => bandList));
  const elements = rows.map(({ label, text, bands: bandList, whole = null, selected, look, choose }) => {
    const sum = whole === null ? [] : [['var(--ink)', `the sum ${format(whole)}`]];
    const lines = [text, ...describeBands(bandList).slice(0, 24), ...sum];
    return make('div', {
      class: 'bar-row', role: choose ? 'button' : 'listitem', 'aria-pressed': choose && String(selected),
      'aria-label': [text, ...describeBands(bandList).map(([, part]) => part)].join(', '),
      onpointermove: (event) => showTip(event.clientX, event.clientY, lines),
      onpointerenter: look, onpointerleave: hideTip, onfocus: look, onclick: choose,
      onkeydown: (event) => { if (choose && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); choose(); } },
    }, label, makeBar(bandList, axis, whole), make('span', { class: 'arrows' }, arrowsOf(bandList, axis)));
  });
  place.replaceChildren(makeScale(axis), ...elements);
  if (!rows[0]?.choose) place.setAttribute('role', 'list');
  rove(elements, Math.max(0, rows.findIndex(({ selected }) => selected)),
       (key, index) => index + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? NaN));
}

function makeScale({ low, high }) {
  const marks = state.measure === 'share' ? [-1, 0, 1, 2].filter((mark) => mark >= low && mark <= high) : [0, high];
  const scale = make('div', { class: 'bar-scale', 'aria-hidden': 'true' }, ...marks.map((mark) => {
    const text = make('span', {}, formatPart(mark));
    const part = (mark - low) / (high - low) * 100;
    text.style.left = `${part}%`;
    text.style.transform = `translateX(-${part}%)`;
    return text;
  }));
  return make('div', { class: 'bar-row scale' }, make('span'), scale, make('span'));
}

const nameOfFlow = (flow) => `${flow.layer.label} \u00b7 ${flow.input}`;

function drawFlowLayers() {
  const rows = shownLayers().flatMap((index) => report.layers[index].flows.map((flow) => ({
    label: makeToken(nameOfFlow(flow)), text: nameOfFlow(flow), bands: bandsOf(flow, null),
    selected: index === state.layer, choose: () => chooseHead(index, state.head),
  })));
  const focused = [...byId('flow-layers').querySelectorAll('.bar-row')].indexOf(document.activeElement);
  drawBars(byId('flow-layers'), rows);
  byId('flow-layers').querySelectorAll('.bar-row')[focused]?.focus();
}

function drawFlowPictures() {
  const { flows, label } = chosenLayer();
  byId('flow-name').replaceChildren(makeToken(label), ', word by word');
  byId('flow-readout').textContent = '';
  byId('flow-pictures').replaceChildren(...flows.map(makeFlowPicture));
  if (!flows.length) byId('flow-pictures').append(make('p', { class: 'note' }, 'The paths of this layer were not recorded.'));
}

function makeFlowPicture(flow) {
  const ribbons = make('div', { class: 'ribbons' }), bars = make('div', { class: 'bars', 'aria-label': 'Words' });
  const rows = shownPlaces(flow.tokens).map((place) => {
    const { text, special } = flow.tokens[place];
    return {
      label: makeToken(text, { class: special ? 'special' : '' }), text: `\u2068${readable(text)}\u2069`,
      bands: bandsOf(flow, place), whole: wholeAt(flow, place), look: () => { drawRibbons(ribbons, flow, place); readFlow(flow, place); },
    };
  });
  drawBars(bars, rows);
  drawRibbons(ribbons, flow, null);
  bars.addEventListener('pointerleave', () => drawRibbons(ribbons, flow, null));
  return make('div', { class: 'flow-picture' }, ribbons, bars);
}

function readFlow(flow, place) {
  const parts = describeBands(bandsOf(flow, place, false)).map(([, text]) => text);
  byId('flow-readout').textContent = `\u2068${readable(flow.tokens[place].text)}\u2069: ${parts.join(', ')}`;
}

function drawFlowLegend() {
  byId('flow-measure-text').textContent = measures[state.measure].text;
  byId('flow-together').textContent = measures[state.measure].together;
  const used = paths.filter((path) => report.layers.some(({ flows }) =>
    flows.some(({ parts }) => parts.some((part) => part.path === path))));
  byId('flow-legend').replaceChildren(...used.map((path) => {
    const key = make('span', { class: 'key' });
    key.style.background = colourOfPath(path);
    return make('span', { class: 'entry' }, key, path);
  }), ...(state.splitHeads ? [make('span', { class: 'noun' }, 'heads one after the other, every second one paler')] : []));
}

function flowTable() {
  const rows = chosenLayer().flows.flatMap((flow) => orderedParts(flow).flatMap((part) =>
    Array.from({ length: part.heads }, (_, head) => shownPlaces(flow.tokens).map((place) => {
      const at = head * flow.tokens.length + place;
      return [flow.input, place, flow.tokens[place].text, part.path, head, part.share[at], part.norm[at],
              flow.norm?.[place] ?? null];
    })).flat()));
  return { columns: ['input', 'place', 'token', 'path', 'head', 'share', 'length',
                     'length of the sum'], rows };
}

function setUpFlowView() {
  byId('flow').hidden = false;
  byId('flow-controls').replaceChildren(
    makeSwitch('measure', 'Width', Object.entries(measures).map(([name, { label }]) => [name, label]), state.measure,
               (measure) => change({ measure })),
    makeCheckbox('split-heads', 'Head by head', state.splitHeads, (splitHeads) => change({ splitHeads })));
  drawOn(['measure', 'splitHeads'], drawFlowLegend);
  drawOn(['layer', 'layers', 'measure', 'splitHeads', 'hideSpecial'], drawFlowLayers);
  drawOn(['layer', 'measure', 'splitHeads', 'hideSpecial'], drawFlowPictures);
  addTable(byId('flow-table'), 'flow', ['layer', 'hideSpecial'], flowTable);
  drawFlowLegend();
  drawFlowLayers();
  drawFlowPictures();
}
