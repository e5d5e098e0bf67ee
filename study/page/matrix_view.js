// One head as a matrix with its words along both axes.

const cellSizes = { smallest: 13, largest: 40 };

const matrixView = { rows: [], columns: [], size: 20, cell: null };

function sizeOfCell(count, width) {
  return Math.max(cellSizes.smallest, Math.min(cellSizes.largest, Math.floor(width / count)));
}

function makeAxis(tokens, places, kind) {
  return make('div', { class: `labels ${kind}`, 'aria-hidden': 'true' }, ...places.map((place) => {
    const { text, special } = tokens[place];
    return make('div', { class: special ? 'special' : '' }, makeToken(text));
  }));
}

function describeCell(layer, row, column) {
  const query = matrixView.rows[row], key = matrixView.columns[column];
  const shown = Object.keys(quantities).filter((quantity) => layer.has(quantity));
  return [`${isolated(layer.queries[query].text)} \u2192 ${isolated(layer.keys[key].text)}`,
          ...shown.map((quantity) => `${quantities[quantity].noun} ` +
            format(layer.matrix(quantity, chosenHead())[query * layer.keys.length + key]))];
}

/** Puts the frame around a cell, or away for null. */
function pointAt(cell) {
  const box = byId('matrix'), frame = box.querySelector('.frame');
  const { size } = matrixView;
  matrixView.cell = cell;
  frame.hidden = !cell;
  for (const label of box.querySelectorAll('.labels .here')) label.classList.remove('here');
  if (!cell) return;
  Object.assign(frame.style, { top: `${cell.row * size}px`, left: `${cell.column * size}px` });
  box.querySelector('.rows').children[cell.row].classList.add('here');
  box.querySelector('.columns').children[cell.column].classList.add('here');
  byId('matrix-readout').textContent = describeCell(chosenLayer(), cell.row, cell.column).join(' \u00b7 ');
}

function cellUnder(event) {
  const box = event.currentTarget.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top) / matrixView.size);
  const column = Math.floor((event.clientX - box.left) / matrixView.size);
  return row >= 0 && column >= 0 && row < matrixView.rows.length && column < matrixView.columns.length
    ? { row, column } : null;
}

function followPointer(event) {
  const cell = cellUnder(event);
  pointAt(cell);
  if (cell) showTip(event.clientX, event.clientY, describeCell(chosenLayer(), cell.row, cell.column));
}

function moveCell(event) {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  const { row, column } = matrixView.cell ?? { row: 0, column: 0 };
  const inside = (place, count) => Math.min(count - 1, Math.max(0, place));
  pointAt({ row: inside(row + step[0], matrixView.rows.length),
            column: inside(column + step[1], matrixView.columns.length) });
  byId('matrix').querySelector('.frame').scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function makeCells() {
  return make('div', {
    class: 'cells', tabindex: 0, role: 'application', 'aria-label': 'Matrix; arrow keys move from cell to cell',
    onpointermove: followPointer, onpointerleave: () => { pointAt(null); hideTip(); },
    onkeydown: moveCell, onfocus: () => pointAt(matrixView.cell ?? { row: 0, column: 0 }), onblur: () => pointAt(null),
  }, make('canvas', { 'aria-hidden': 'true' }), make('div', { class: 'frame', hidden: true }));
}

function drawMatrix() {
  const layer = chosenLayer();
  if (!layer.has(state.quantity)) {
    byId('matrix').replaceChildren(makeNote('Gradients of this layer were not recorded.'));
    byId('matrix-legend').replaceChildren();
    return;
  }
  matrixView.rows = shownPlaces(layer.queries);
  matrixView.columns = shownPlaces(layer.keys);
  byId('matrix').replaceChildren(
    make('div', { class: 'corner' }, make('span', {}, 'queries'), make('span', {}, 'keys')),
    makeAxis(layer.keys, matrixView.columns, 'columns'), makeAxis(layer.queries, matrixView.rows, 'rows'),
    makeCells());
  sizeMatrix();
  paintMatrix();
}

function sizeMatrix() {
  const box = byId('matrix');
  if (!box.querySelector('.cells')) return;
  const labels = box.querySelector('.rows').offsetWidth;
  matrixView.size = sizeOfCell(matrixView.columns.length, box.clientWidth - labels - 2);
  box.style.setProperty('--cell', `${matrixView.size}px`);
  box.style.setProperty('--rows', matrixView.rows.length);
  box.style.setProperty('--columns', matrixView.columns.length);
}

function paintMatrix() {
  const layer = chosenLayer(), canvas = byId('matrix').querySelector('canvas');
  if (!canvas) return;
  const ramp = rampOf(state.quantity, reachOf(state.quantity, layer, chosenHead()));
  paintCells(canvas, layer.matrix(state.quantity, chosenHead()), layer.keys.length, matrixView.rows,
             matrixView.columns, ramp);
  drawLegend(byId('matrix-legend'), ramp, quantities[state.quantity].noun);
}

function setUpMatrixView() {
  drawOn(['quantity', 'layer', 'head', 'mean', 'hideSpecial'], drawMatrix);
  drawOn(['scale', 'layers', 'theme'], paintMatrix);
  drawOn(['width'], sizeMatrix);
  drawMatrix();
}
