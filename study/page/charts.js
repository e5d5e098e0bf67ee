// Lines over a common axis.

const chartSize = { height: 280, left: 58, right: 12, top: 26, bottom: 40 };

/** Up to eight lines get colours of their own; more of them are taken to be in order, as layers are. */
function lineColours(count) {
  if (count <= 8) return Array.from({ length: count }, (_, i) => `var(--line-${i})`);
  return Array.from({ length: count }, (_, i) => {
    const place = i / (count - 1) * 3, below = Math.min(2, Math.floor(place));
    const part = Math.round((place - below) * 100);
    return `color-mix(in oklab, var(--order-${below}), var(--order-${below + 1}) ${part}%)`;
  });
}

const mostRead = 16;  // lines, at one place
const mostDots = 40;  // of a line: where there are more they would hide it

const isShown = (value, log) => Number.isFinite(value) && (!log || value > 0);

class Chart {
  constructor(data, place) {
    this.data = data;
    this.colours = lineColours(data.lines.length);
    this.hidden = new Set();
    this.emphasis = null;  // the line that is pointed at in the legend
    this.at = null;        // the x that is read
    this.picture = make('div', {
      class: 'chart', tabindex: 0, role: 'application',
      'aria-label': `${data.title}; left and right arrows read the numbers`,
      onpointermove: (event) => this.readAtPointer(event), onpointerleave: () => this.read(null),
      onkeydown: (event) => this.readByKey(event), onblur: () => this.read(null),
    });
    this.readout = make('p', { class: 'readout', 'aria-live': 'polite' });
    const table = make('div', { class: 'table' });
    place.append(make('figure', { class: 'chart-figure' }, make('h3', {}, makeToken(data.title)),
      this.picture, this.makeLegend(), makeNote(this.leftOut()), this.readout, table));
    addTable(table, `chart-${report.charts.indexOf(data) + 1}`, [], () => this.table());
    drawOn(['width'], () => this.draw());
  }

  makeLegend() {
    const entries = this.data.lines.map((line, index) => {
      const entry = make('button', {
        type: 'button', class: 'entry', 'aria-pressed': 'true',
        onclick: () => this.toggle(index, entry),
        onpointerenter: () => this.emphasize(index), onpointerleave: () => this.emphasize(null),
        onfocus: () => this.emphasize(index), onblur: () => this.emphasize(null),
      }, makeKey(this.colours[index]), makeToken(line.name));
      return entry;
    });
    return make('div', { class: 'legend lines-legend' }, ...entries);
  }

  toggle(index, entry) {
    if (!this.hidden.delete(index)) this.hidden.add(index);
    entry.setAttribute('aria-pressed', String(!this.hidden.has(index)));
    this.draw();
  }

  emphasize(index) {
    this.emphasis = index;
    this.picture.querySelectorAll('.curve').forEach((curve) =>
      curve.classList.toggle('faint', index !== null && Number(curve.dataset.line) !== index));
  }

  /** What a logarithmic axis cannot show. */
  leftOut() {
    const { lines, logX, logY } = this.data;
    const isLost = (value, log) => log && value !== null && value <= 0;
    const countOf = ({ x, y }) => x.filter((value, i) => isLost(value, logX) || isLost(y[i], logY)).length;
    const count = lines.reduce((sum, line) => sum + countOf(line), 0);
    return count ? `${plural(count, 'place')} at or below 0 cannot be shown on a logarithmic axis.` : '';
  }

  /** Points [[x, y], ...] of a line, null for a gap. */
  points({ x, y }) {
    const { logX, logY } = this.data;
    return x.map((value, i) => (isShown(value, logX) && isShown(y[i], logY) ? [value, y[i]] : null));
  }

  draw() {
    const { lines, logX, logY } = this.data;
    this.shown = lines.map((line, index) => ({ index, name: line.name, points: this.points(line) }))
      .filter(({ index }) => !this.hidden.has(index));
    const points = this.shown.flatMap((line) => line.points.filter(Boolean));
    this.places = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
    this.drawPicture(rangeOf(points.map(([x]) => x), logX), rangeOf(points.map(([, y]) => y), logY));
  }

  drawPicture([x0, x1], [y0, y1]) {
    const width = this.picture.clientWidth, { height, left, right, top, bottom } = chartSize;
    const { logX, logY, xLabel, yLabel } = this.data;
    const isCount = this.places.every(Number.isInteger);
    this.toX = makeAxisScale(x0, x1, logX, left, width - right);
    this.toY = makeAxisScale(y0, y1, logY, height - bottom, top);
    this.cursor = makeSvg('line', { class: 'cursor', y1: top, y2: height - bottom, visibility: 'hidden' });
    this.picture.replaceChildren(make('span', { class: 'y-label' }, yLabel),
      makeSvg('svg', { width, height, 'aria-hidden': 'true' },
        ...ticksOf(y0, y1, logY, 5).map((y) => this.yTick(y, width)),
        ...ticksOf(x0, x1, logX, width < 500 ? 4 : 8, isCount).map((x) => this.xTick(x)),
        makeSvg('text', { x: width - right, y: height - 4, class: 'end' }, xLabel),
        ...this.shown.map((line) => this.curve(line, width)), this.cursor));
  }

  yTick(y, width) {
    const at = this.toY(y);
    return makeSvg('g', { class: 'tick' },
      makeSvg('line', { x1: chartSize.left, x2: width - chartSize.right, y1: at, y2: at }),
      makeSvg('text', { x: chartSize.left - 8, y: at + 4, class: 'end' }, format(y)));
  }

  xTick(x) {
    const at = this.toX(x), base = chartSize.height - chartSize.bottom;
    return makeSvg('g', { class: 'tick' }, makeSvg('line', { x1: at, x2: at, y1: base, y2: base + 4 }),
      makeSvg('text', { x: at, y: base + 17, class: 'middle' }, format(x)));
  }

  curve({ index, points }, width) {
    const path = curvePath(thinned(points, this.toX, width), this.toX, this.toY);
    const curve = makeSvg('g', { class: 'curve', 'data-line': index }, makeSvg('path', { d: path }));
    if (points.length <= mostDots) {
      curve.append(...points.filter(Boolean).map(([x, y]) =>
        makeSvg('circle', { cx: this.toX(x), cy: this.toY(y), r: 2.5 })));
    }
    curve.style.color = this.colours[index];
    return curve;
  }

  readAtPointer(event) {
    const x = event.clientX - this.picture.getBoundingClientRect().left;
    this.read(nearest(this.places, (place) => Math.abs(this.toX(place) - x)));
    if (this.at !== null) showTip(event.clientX, event.clientY, this.readings());
  }

  readByKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.places.length) return;
    event.preventDefault();
    const from = this.at === null ? (step > 0 ? -1 : this.places.length) : this.places.indexOf(this.at);
    this.read(this.places[Math.min(this.places.length - 1, Math.max(0, from + step))]);
    this.readout.textContent = this.readings().map(textOf).join(' \u00b7 ');
  }

  /** Moves the cursor to one of the places, or away for null. */
  read(x) {
    this.at = x;
    this.cursor.setAttribute('visibility', x === null ? 'hidden' : 'visible');
    this.readout.textContent = '';
    if (x === null) {
      hideTip();
      return;
    }
    this.cursor.setAttribute('x1', this.toX(this.at));
    this.cursor.setAttribute('x2', this.toX(this.at));
  }

  /** What is read at the cursor, the largest first: [colour, text] for each line. */
  readings() {
    const found = this.shown.flatMap(({ index, name, points }) => {
      const point = points.find((candidate) => candidate && candidate[0] === this.at);
      return point ? [{ index, name, y: point[1] }] : [];
    });
    found.sort((a, b) => b.y - a.y);
    const rest = found.length > mostRead ? [`and ${found.length - mostRead} more`] : [];
    return [`${this.data.xLabel} ${format(this.at)}`, ...found.slice(0, mostRead).map(({ index, name, y }) =>
      [this.colours[index], `${isolated(name)} ${format(y)}`]), ...rest];
  }

  table() {
    const { lines, xLabel, yLabel } = this.data;
    return { columns: ['line', xLabel || 'x', yLabel || 'y'],
             rows: lines.flatMap(({ name, x, y }) => x.map((value, i) => [name, value, y[i]])) };
  }
}

function nearest(values, distance) {
  let best = null;
  for (const value of values) if (best === null || distance(value) < distance(best)) best = value;
  return best;
}

/** Of more points than pixels, the lowest and the highest of each pixel. */
function thinned(points, toX, width) {
  if (points.length <= 4 * width) return points;
  const kept = [];
  let pixel = null, group = [];
  const flush = () => {
    if (!group.length) return;
    const byHeight = [...group].sort((a, b) => a[1] - b[1]);
    kept.push(...group.filter((point) => point === byHeight[0] || point === byHeight.at(-1)));
    group = [];
  };
  for (const point of points) {
    const next = point && Math.round(toX(point[0]));
    if (next !== pixel) flush();
    if (point) group.push(point);
    else { flush(); kept.push(null); }
    pixel = next;
  }
  flush();
  return kept;
}

/** Lines between neighbours, and a small ring for a point that has none. */
function curvePath(points, toX, toY) {
  return points.map((point, i) => {
    if (!point) return '';
    const place = `${toX(point[0]).toFixed(1)} ${toY(point[1]).toFixed(1)}`;
    if (points[i - 1]) return `L${place}`;
    return points[i + 1] ? `M${place}` : `M${place}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`;
  }).join('');
}

function setUpCharts() {
  byId('charts').hidden = false;
  const charts = report.charts.map((chart) => new Chart(chart, byId('chart-list')));
  for (const chart of charts) chart.draw();  // once all are in place: they share the width
}
