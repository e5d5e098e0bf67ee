// Entropy and saturation of each head, as coloured tables.

const statistics = [
  { key: 'entropy', title: 'Entropy', text: 'Over how many keys a head spreads its weight, in nats, as the mean ' +
    'over queries: 0 is all on one key, ln n is the same on n keys.' },
  { key: 'saturation', title: '1 \u2212 \u03a3 weight\u00b2', text: 'How much gradient the softmax lets through (it ' +
    'is the trace of its derivative), as the mean over queries: near 0 the head is saturated, all on one key.' },
];

const layersWith = (key) => shownLayers().map((index) => report.layers[index]).filter((layer) => layer[key]);

function makeStatistic({ key, title, text }) {
  const layers = layersWith(key);
  const most = Math.max(0, ...layers.map(({ heads }) => heads));
  const largest = Math.max(0, ...layers.flatMap((layer) => layer[key]).filter(Number.isFinite));
  const ramp = new Ramp(false, largest);
  const heads = Array.from({ length: most }, (_, i) => make('th', { scope: 'col' }, String(i)));
  const rows = layers.map((layer) => make('tr', {}, make('th', { scope: 'row' }, makeName(layer.label)),
    ...layer[key].map((value, i) => makeStatisticCell(layer, title, value, i, ramp))));
  const table = make('table', { class: 'heat' }, make('thead', {}, make('tr', {}, make('th'), ...heads)),
                     make('tbody', {}, ...rows));
  return make('figure', {}, make('h3', {}, title), make('figcaption', {}, text),
    make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, table));
}

function makeStatisticCell(layer, title, value, head, ramp) {
  const colour = ramp.colour(value ?? NaN);
  const lines = [`${layer.label}, head ${head}`, `${title} ${format(value)}`];
  const cell = make('td', {
    class: isDark(colour) ? 'strong' : 'weak',
    onpointermove: (event) => showTip(event.clientX, event.clientY, lines), onpointerleave: hideTip,
  }, Number.isFinite(value) ? value.toFixed(2) : '\u2013');
  cell.style.background = asText(colour);
  return cell;
}

function statisticsTable() {
  const rows = shownLayers().map((index) => report.layers[index]).flatMap((layer) =>
    Array.from({ length: layer.heads }, (_, head) =>
      [layer.label, head, ...statistics.map(({ key }) => layer[key]?.[head] ?? null)]));
  return { columns: ['layer', 'head', ...statistics.map(({ key }) => key)], rows };
}

function drawStatistics() {
  byId('statistics-pictures').replaceChildren(
    ...statistics.filter(({ key }) => layersWith(key).length).map(makeStatistic));
}

function setUpStatistics() {
  byId('statistics').hidden = false;
  drawOn(['layers', 'theme'], drawStatistics);
  addTable(byId('statistics-table'), 'statistics', ['layers'], statisticsTable);
  drawStatistics();
}
