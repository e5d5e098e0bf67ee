// Rows of bars made of bands: to the right of the axis what is positive, to the left what is negative.

const mostShown = { below: -1, above: 2 };  // of shares: bars that go further end in an arrow
const mostDescribed = 24;                   // bands, in the window beside the pointer

const sumOf = (bandList, sign) =>
  bandList.reduce((sum, { value }) => sum + (value * sign > 0 ? value : 0), 0);

/** The ends of an axis that holds all bars, within what is shown of shares. */
function axisOf(rows) {
  const low = Math.min(0, ...rows.map((row) => sumOf(row.bands, -1)));
  const high = Math.max(0, ...rows.map((row) => sumOf(row.bands, 1)));
  if (state.measure === 'norm') return { low: 0, high: high || 1 };
  return { low: Math.max(mostShown.below, low), high: Math.min(mostShown.above, Math.max(1, high)) };
}

/** One bar, in the units of the axis: the browser stretches it to its place. */
function makeBar({ bands: bandList, whole }, { low, high }) {
  const bar = makeSvg('svg', {
    viewBox: `${low} 0 ${high - low} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true',
  });
  const ends = { [1]: 0, [-1]: 0 };
  for (const { path, head, value } of bandList) {
    if (!Number.isFinite(value) || value === 0) continue;
    const sign = Math.sign(value), from = ends[sign];
    ends[sign] += value;
    const band = makeSvg('rect', {
      x: Math.min(from, ends[sign]), width: Math.abs(value), y: 0.1, height: 0.8,
      class: sign < 0 ? 'against' : '', opacity: head % 2 ? 0.7 : 1,
    });
    band.style.fill = colourOfPath(path);
    bar.append(band);
  }
  const mark = (at, kind) => makeSvg('line', { x1: at, x2: at, y1: 0, y2: 1, class: kind });
  bar.append(mark(0, 'axis-mark'));
  if (state.measure === 'share') bar.append(mark(1, 'axis-mark'));
  if (whole !== null) bar.append(mark(whole, 'whole'));
  return bar;
}

/** At which ends a bar leaves the picture. */
function arrowsOf({ bands: bandList }, { low, high }) {
  const slack = (high - low) / 1000;
  return (sumOf(bandList, -1) < low - slack ? '\u25c2' : '') +
    (sumOf(bandList, 1) > high + slack ? '\u25b8' : '');
}

function makeBarRow(row, axis) {
  const described = describeBands(row.bands);
  const sum = row.whole === null ? [] : [['var(--ink)', `the sum ${format(row.whole)}`]];
  const lines = [row.text, ...described.slice(0, mostDescribed), ...sum];
  const pressed = row.choose && { type: 'button', 'aria-pressed': String(row.selected), onclick: row.choose };
  return make(row.choose ? 'button' : 'div', {
    class: 'bar-row', 'aria-label': [row.text, ...described.map(textOf)].join(', '),
    onpointermove: (event) => showTip(event.clientX, event.clientY, lines), onpointerleave: hideTip,
    onpointerenter: row.look, onfocus: row.look, ...(pressed || { role: 'listitem' }),
  }, row.label, makeBar(row, axis), make('span', { class: 'arrows' }, arrowsOf(row, axis)));
}

/** Rows { label, text, bands, whole, look } or { label, text, bands, selected, choose }: `look` is called when a row
 *  is pointed at or reached by key, `choose` when it is pressed. */
function drawBars(place, rows) {
  const complete = rows.map((row) => ({ whole: null, ...row }));
  const axis = axisOf(complete);
  const elements = complete.map((row) => makeBarRow(row, axis));
  place.setAttribute('role', rows[0]?.choose ? 'group' : 'list');
  place.replaceChildren(makeScale(axis), ...elements);
  rove(elements, Math.max(0, rows.findIndex(({ selected }) => selected)),
       (key, index) => index + ({ ArrowUp: -1, ArrowDown: 1 }[key] ?? NaN));
}

function makeScale({ low, high }) {
  const isInside = (mark) => mark >= low && mark <= high;
  const marks = state.measure === 'share' ? [-1, 0, 1, 2].filter(isInside) : [0, high];
  const scale = make('div', { class: 'bar-scale' }, ...marks.map((mark) => {
    const text = make('span', {}, formatPart(mark));
    const part = (mark - low) / (high - low) * 100;
    text.style.left = `${part}%`;
    text.style.transform = `translateX(-${part}%)`;  // neither end stands out
    return text;
  }));
  return make('div', { class: 'bar-row scale', 'aria-hidden': 'true' }, make('span'), scale, make('span'));
}
