// Numbers as colours, on canvas. The colours themselves are in page.css.

const known = new Map();  // what was computed of the style sheet, until the theme changes

const forgetColours = () => known.clear();

function remember(key, compute) {
  if (!known.has(key)) known.set(key, compute());
  return known.get(key);
}

/** A colour of the style sheet as [red, green, blue], in the theme of the moment. */
const cssColour = (name) => remember(name, () => {
  const probe = byId('tip');
  probe.style.color = `var(${name})`;
  const numbers = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.style.color = '';
  return numbers.slice(0, 3);
});

const asText = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

/** Colours at equal distances along the named stops. */
function blend(names, count) {
  const stops = names.map(cssColour);
  return Array.from({ length: count }, (_, i) => {
    const place = count === 1 ? 0 : (i / (count - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return stops[below].map((from, channel) =>
      Math.round(from + (stops[below + 1][channel] - from) * (place - below)));
  });
}

const shades = 255;  // an odd number: a signed ramp has its middle at 0
const upwards = ['--up-0', '--up-1', '--up-2', '--up-3', '--up-4'];
const bothWays = ['--minus-2', '--minus-1', '--zero', '--plus-1', '--plus-2'];

const hasNegativeWeights = report.layers.some((layer) =>
  Array.from({ length: layer.heads }, (_, head) => layer.matrix('weights', head))
    .some((values) => values.some((value) => value < 0)));

const isSigned = (quantity) => quantity !== 'weights' || hasNegativeWeights;

const coloursOf = (signed) => remember(`colours ${signed}`, () =>
  [...blend(signed ? bothWays : upwards, shades), cssColour('--not-finite')]);

/** The same as pixels of little-endian RGBA. */
const wordsOf = (signed) => remember(`words ${signed}`, () => Uint32Array.from(coloursOf(signed),
  ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0));

/** How numbers up to `largest` are coloured: from nothing upwards, or both ways from 0. */
class Ramp {
  constructor(signed, largest) {
    this.signed = signed;
    this.largest = largest;
    this.colours = coloursOf(this.signed);
    this.words = wordsOf(this.signed);
  }

  index(value) {
    if (Number.isNaN(value)) return shades;
    const part = this.largest > 0 ? value / this.largest : 0;
    return Math.round((shades - 1) * Math.min(1, Math.max(0, this.signed ? (part + 1) / 2 : part)));
  }

  colour(value) { return this.colours[this.index(value)]; }
}

const rampOf = (quantity, largest) => new Ramp(isSigned(quantity), largest);

/** The largest magnitude among the chosen rows and columns. */
function largestOf(values, stride, rows, columns) {
  let largest = 0;
  for (const row of rows) {
    for (const column of columns) {
      const size = Math.abs(values[row * stride + column]);
      if (size > largest && size < Infinity) largest = size;
    }
  }
  return largest;
}

/** The strongest of the cells under each pixel of a picture (height x width) that has no room for all. */
function pooled(values, stride, rows, columns, height, width) {
  const pixels = new Float32Array(height * width);
  const across = Uint32Array.from(columns, (_, i) => Math.floor(i * width / columns.length));
  for (let i = 0; i < rows.length; i++) {
    const line = Math.floor(i * height / rows.length) * width;
    const row = rows[i] * stride;
    for (let j = 0; j < columns.length; j++) {
      const value = values[row + columns[j]];
      const pixel = line + across[j];
      if (Number.isNaN(value) || Math.abs(value) > Math.abs(pixels[pixel])) pixels[pixel] = value;
    }
  }
  return pixels;
}

/** Fills a canvas with the chosen rows and columns, a pixel a cell, or fewer where `most` pixels do not do. */
function paintCells(canvas, values, stride, rows, columns, ramp, most = Infinity) {
  canvas.height = Math.min(rows.length, most);
  canvas.width = Math.min(columns.length, most);
  const pixels = pooled(values, stride, rows, columns, canvas.height, canvas.width);
  const image = new ImageData(canvas.width, canvas.height);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) words[i] = ramp.words[ramp.index(pixels[i])];
  canvas.getContext('2d').putImageData(image, 0, 0);
}

/** The largest number that a ramp has to reach for one head: its own, or that of all layers shown. */
function reachOf(quantity, layer, head) {
  return state.scale === 'own' ? largestOfHead(quantity, layer, head) : commonReach(quantity);
}

function largestOfHead(quantity, layer, head) {
  const values = layer.matrix(quantity, head);
  return largestOf(values, layer.keys.length, shownPlaces(layer.queries), shownPlaces(layer.keys));
}

const headsOf = (layer) => (state.mean ? [null] : [...Array(layer.heads).keys()]);

const commonReaches = new Map();

function commonReach(quantity) {
  const key = JSON.stringify([quantity, state.mean, state.hideSpecial, shownLayers()]);
  if (!commonReaches.has(key)) {
    const layers = shownLayers().map((index) => report.layers[index]).filter((layer) => layer.has(quantity));
    const all = layers.flatMap((layer) => headsOf(layer).map((head) => largestOfHead(quantity, layer, head)));
    commonReaches.set(key, Math.max(0, ...all));
  }
  return commonReaches.get(key);
}

/** A bar of a ramp's colours between its ends. */
function drawLegend(place, ramp, noun) {
  const colours = ramp.colours.slice(0, shades).filter((_, i) => i % 8 === 0).map(asText);
  const bar = make('span', { class: 'ramp', 'aria-hidden': 'true' });
  bar.style.background = `linear-gradient(to right, ${colours.join(', ')})`;
  place.replaceChildren(
    make('span', {}, ramp.signed ? format(-ramp.largest) : '0'), bar,
    make('span', {}, format(ramp.largest)), make('span', { class: 'noun' }, noun));
}
