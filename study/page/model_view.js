// Every head of every layer as a small picture.

const thumbPixels = 96;

function strongestCell(layer, quantity, head) {
  const values = layer.matrix(quantity, head);
  let best = 0;
  for (let i = 1; i < values.length; i++) if (Math.abs(values[i]) > Math.abs(values[best])) best = i;
  return { value: values[best], query: Math.floor(best / layer.keys.length), key: best % layer.keys.length };
}

function describeHead(layer, head) {
  if (!layer.has(state.quantity)) return [`${layer.label}, ${nameOfHead(head)}`, 'gradients were not recorded'];
  const { value, query, key } = strongestCell(layer, state.quantity, head);
  return [`${layer.label}, ${nameOfHead(head)}`,
          `strongest ${quantities[state.quantity].noun} ${format(value)}`,
          `from ${isolated(layer.queries[query].text)} to ${isolated(layer.keys[key].text)}`];
}

function paintThumb(canvas, layer, head) {
  const ramp = rampOf(state.quantity, reachOf(state.quantity, layer, head));
  const values = layer.matrix(state.quantity, head);
  const rows = shownPlaces(layer.queries), columns = shownPlaces(layer.keys);
  paintCells(canvas, values, layer.keys.length, rows, columns, ramp, thumbPixels);
}

function makeThumb(index, layer, head) {
  const canvas = make('canvas', { 'aria-hidden': 'true' });
  if (layer.has(state.quantity)) paintThumb(canvas, layer, head);
  const lines = describeHead(layer, head);
  return make('button', {
    type: 'button', role: 'gridcell', class: 'thumb', 'aria-label': lines.join(', '),
    'data-layer': index, 'data-head': head ?? 'mean',
    onclick: () => chooseHead(index, head ?? state.head),
    onfocus: () => chooseHead(index, head ?? state.head),
    onpointermove: (event) => showTip(event.clientX, event.clientY, lines),
    onpointerleave: hideTip,
  }, canvas);
}

/** Where an arrow leads from a picture in rows of uneven length. */
function neighbour(thumbs, key, index) {
  const { layer, head } = thumbs[index].dataset;
  const at = (l, h) => thumbs.findIndex((t) => t.dataset.layer === String(l) && t.dataset.head === String(h));
  const rows = shownLayers();
  const row = rows.indexOf(Number(layer)) + { ArrowUp: -1, ArrowDown: 1 }[key];
  if (key === 'ArrowLeft' || key === 'ArrowRight') return at(layer, Number(head) + (key === 'ArrowLeft' ? -1 : 1));
  if (rows[row] === undefined) return undefined;
  return at(rows[row], head === 'mean' ? head : Math.min(Number(head), report.layers[rows[row]].heads - 1));
}

function drawModel() {
  const most = Math.max(...report.layers.map((layer) => headsOf(layer).length));
  const grid = byId('model-grid');
  grid.style.setProperty('--heads', most);
  const heads = make('div', { class: 'heads', 'aria-hidden': 'true' },
    ...(state.mean ? ['mean'] : Array.from({ length: most }, (_, head) => String(head)))
      .map((text) => make('span', {}, text)));
  const rows = shownLayers().map((index) => {
    const layer = report.layers[index];
    return make('div', { role: 'row', class: 'layer' },
      make('span', { role: 'rowheader', class: 'name' }, makeName(layer.label)),
      ...headsOf(layer).map((head) => makeThumb(index, layer, head)));
  });
  grid.replaceChildren(heads, ...rows);
  const thumbs = [...grid.querySelectorAll('.thumb')];
  rove(thumbs, Math.max(0, thumbs.findIndex(isChosenThumb)), (key, index) => neighbour(thumbs, key, index));
  markThumb();
  drawModelLegend();
}

function drawModelLegend() {
  const { noun } = quantities[state.quantity];
  const common = state.scale === 'common';
  const ramp = rampOf(state.quantity, common ? commonReach(state.quantity) : 1);
  drawLegend(byId('model-legend'), ramp, common ? noun : `of the largest ${noun} of each head`);
}

const isChosenThumb = ({ dataset }) =>
  Number(dataset.layer) === state.layer && (state.mean || Number(dataset.head) === state.head);

function markThumb() {
  for (const thumb of byId('model-grid').querySelectorAll('.thumb')) {
    thumb.setAttribute('aria-selected', String(isChosenThumb(thumb)));
  }
  byId('model-readout').textContent = describeHead(chosenLayer(), chosenHead()).join(' \u00b7 ');
}

/** Says how the numbers were rounded where that can be seen. */
function describePrecision({ kept, weights, gradients }) {
  if (!kept) return '';
  const all = report.layers.some((layer) => layer.has('gradients'))
    ? `${formatPercent(weights)} of all weight and ${formatPercent(gradients)} of the gradients\u2019 size`
    : `${formatPercent(weights)} of all weight`;
  return `To keep this file small it holds the ${kept} strongest places of each row, with ${all}; ` +
    'the other places are shown as 0.';
}

function headSummary() {
  const rows = shownLayers().flatMap((index) => {
    const layer = report.layers[index];
    return headsOf(layer).filter(() => layer.has(state.quantity)).map((head) => {
      const { value, query, key } = strongestCell(layer, state.quantity, head);
      return [layer.label, head ?? 'mean', value, layer.queries[query].text, layer.keys[key].text];
    });
  });
  return { columns: ['layer', 'head', `strongest ${quantities[state.quantity].noun}`, 'query', 'key'], rows };
}

function setUpModelView() {
  byId('model').hidden = false;
  byId('precision').textContent = describePrecision(report.precision);
  byId('precision').hidden = !report.precision.kept;
  drawOn(['quantity', 'mean', 'hideSpecial', 'scale', 'layers', 'theme'], drawModel);
  drawOn(['layer', 'head'], markThumb);
  addTable(byId('model-table'), 'heads', ['quantity', 'mean', 'layers'], headSummary);
  drawModel();
}
