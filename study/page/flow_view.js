// By which path gradient came to the inputs of a layer: bands as wide as the part of each path.

const measures = {
  share: {
    label: 'Shares',
    together: 'all words together',
    text: 'share of the whole: its projection on the sum, so that the shares of one word add up to ' +
      '100\u2009%, and one that pulls against the sum is negative, to the left of the axis.',
  },
  norm: {
    label: 'Lengths',
    together: 'the mean over its words',
    text: 'length. Lengths do not add up to that of the sum, as parts may cancel; a dark mark shows the sum ' +
      'where it is known.',
  },
};

const pathOrder = ['residual', 'query', 'key', 'value'];
const paths = [...new Set([...pathOrder, ...report.layers.flatMap((layer) =>
  layer.flows.flatMap((flow) => flow.parts.map((part) => part.path)))])];

const colourOfPath = (path) => `var(--path-${paths.indexOf(path) % 8})`;
const orderedParts = (flow) => [...flow.parts].sort((a, b) => paths.indexOf(a.path) - paths.indexOf(b.path));
const formatPart = (value) => (state.measure === 'share' ? formatPercent(value) : format(value));

/** The mean over the shown places. A share counts by the square of the whole it is a share of, so that the mean is
 *  the share of the gradient of all places together. */
function meanOver(flow, valueAt) {
  const weightAt = (place) => (state.measure === 'share' && flow.norm ? flow.norm[place] ** 2 : 1);
  const places = shownPlaces(flow.tokens).filter((place) => Number.isFinite(valueAt(place) * weightAt(place)));
  const sum = (numberAt) => places.reduce((total, place) => total + numberAt(place), 0);
  return sum((place) => valueAt(place) * weightAt(place)) / sum(weightAt);
}

/** The number of one head of a part at one place, or the mean for null. */
function partAt(flow, part, head, place) {
  const valueAt = (at) => part[state.measure][head * flow.tokens.length + at];
  return place === null ? meanOver(flow, valueAt) : valueAt(place);
}

/** The length of the whole at a place, where it is known and can be compared with the bands. */
const wholeAt = (flow, place) => (state.measure === 'norm' && flow.norm ? flow.norm[place] : null);

/** The bands of a place, or of the mean: [{ path, head, value }], head null where heads are added up. */
function bandsOf(flow, place, split = state.splitHeads) {
  return orderedParts(flow).flatMap((part) => {
    const values = Array.from({ length: part.heads }, (_, head) => partAt(flow, part, head, place));
    if (split && part.heads > 1) return values.map((value, head) => ({ path: part.path, head, value }));
    return [{ path: part.path, head: null, value: values.reduce((sum, value) => sum + value, 0) }];
  });
}

/** A line for each band, for the window beside the pointer: [colour, text]. */
function describeBands(bandList) {
  const finite = bandList.filter(({ value }) => Number.isFinite(value));
  if (finite.every(({ value }) => value === 0)) return [['transparent', 'no gradient']];
  return finite.map(({ path, head, value }) =>
    [colourOfPath(path), `${path}${head === null ? '' : `, head ${head}`} ${formatPart(value)}`]);
}

const nameOfFlow = (flow) => `${flow.layer.label} \u00b7 ${flow.input}`;

function drawFlowLayers() {
  const rows = shownLayers().flatMap((index) => report.layers[index].flows.map((flow) => ({
    label: makeToken(nameOfFlow(flow)), text: nameOfFlow(flow), bands: bandsOf(flow, null),
    selected: index === state.layer, choose: () => chooseHead(index, state.head),
  })));
  const focused = [...byId('flow-layers').children].indexOf(document.activeElement);
  drawBars(byId('flow-layers'), rows);
  byId('flow-layers').children[focused]?.focus();
}

function drawFlowPictures() {
  const { flows, label } = chosenLayer();
  byId('flow-name').replaceChildren(makeToken(label), ', word by word');
  byId('flow-readout').textContent = '';
  byId('flow-pictures').replaceChildren(...flows.map(makeFlowPicture));
  if (!flows.length) byId('flow-pictures').append(makeNote('The paths of this layer were not recorded.'));
}

function makeFlowPicture(flow) {
  const ribbons = make('div', { class: 'ribbons' });
  const bars = make('div', { class: 'bars', 'aria-label': 'Words' });
  const look = (place) => {
    drawRibbons(ribbons, flow, place);
    if (place !== null) readFlow(flow, place);
  };
  drawBars(bars, shownPlaces(flow.tokens).map((place) => {
    const { text, special } = flow.tokens[place];
    return {
      label: makeToken(text, { class: special ? 'special' : '' }), text: isolated(text), bands: bandsOf(flow, place),
      whole: wholeAt(flow, place), look: () => look(place),
    };
  }));
  bars.addEventListener('pointerleave', () => look(null));
  look(null);
  return make('div', { class: 'flow-picture' }, ribbons, bars);
}

function readFlow(flow, place) {
  const parts = describeBands(bandsOf(flow, place, false)).map(textOf);
  byId('flow-readout').textContent = `${isolated(flow.tokens[place].text)}: ${parts.join(', ')}`;
}

function drawFlowLegend() {
  byId('flow-measure-text').textContent = measures[state.measure].text;
  byId('flow-together').textContent = measures[state.measure].together;
  const isUsed = (path) => report.layers.some(({ flows }) =>
    flows.some(({ parts }) => parts.some((part) => part.path === path)));
  byId('flow-legend').replaceChildren(...paths.filter(isUsed)
    .map((path) => make('span', { class: 'entry' }, makeKey(colourOfPath(path)), path)));
  if (state.splitHeads) {
    byId('flow-legend').append(make('span', { class: 'noun' }, 'heads one after the other, every second one paler'));
  }
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
    makeSwitch('measure', 'Width', labelsOf(measures), state.measure, (measure) => change({ measure })),
    makeCheckbox('split-heads', 'Head by head', state.splitHeads, (splitHeads) => change({ splitHeads })));
  drawOn(['measure', 'splitHeads'], drawFlowLegend);
  drawOn(['layer', 'layers', 'measure', 'splitHeads', 'hideSpecial'], drawFlowLayers);
  drawOn(['layer', 'measure', 'splitHeads', 'hideSpecial'], drawFlowPictures);
  addTable(byId('flow-table'), 'flow', ['layer', 'hideSpecial'], flowTable);
  drawFlowLegend();
  drawFlowLayers();
  drawFlowPictures();
}
