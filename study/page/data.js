// What the page shows: the report, its matrices unpacked when they are first asked for.

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The numbers (rows x columns) of a packed block: whole numbers times the scale of their row. What was not
 *  kept is 0, the lowest whole number stands for what is not finite. */
function unpackRows(block, columns, kept) {
  const scales = new Float32Array(bytesOf(block.scales).buffer);
  const whole = new (block.bits === 8 ? Int8Array : Int16Array)(bytesOf(block.numbers).buffer);
  const lowest = block.bits === 8 ? -128 : -32768;
  const values = new Float32Array(scales.length * columns);
  const maskBytes = Math.ceil(columns / 8);
  let next = 0;
  for (let row = 0; row < scales.length; row++) {
    for (let column = 0; column < columns; column++) {
      if (kept && !(kept[row * maskBytes + (column >> 3)] >> (column & 7) & 1)) continue;
      const number = whole[next++];
      values[row * columns + column] = number === lowest ? NaN : number * scales[row];
    }
  }
  return values;
}

function productOf(a, b) {
  const product = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) product[i] = a[i] * b[i];
  return product;
}

const quantities = {
  weights: { label: 'Weights', noun: 'weight' },
  gradients: { label: 'Gradients', noun: 'gradient' },
  product: { label: 'Weight \u00d7 gradient', noun: 'weight \u00d7 gradient' },
};

/** One attention layer. matrix(quantity, head) are its numbers (queries x keys), or null where they were not
 *  recorded; head null is the mean over heads. */
class Layer {
  #packed;
  #values = {};
  #means = {};

  constructor(packed, sequences) {
    this.#packed = packed;
    this.name = packed.name;
    this.heads = packed.heads;
    this.queries = sequences[packed.queries];
    this.keys = sequences[packed.keys];
    this.entropy = packed.entropy;
    this.saturation = packed.saturation;
    this.flows = packed.flows.map((flow) => new Flow(this, flow, sequences));
  }

  has(quantity) { return quantity === 'weights' || this.#packed.gradients !== undefined; }

  matrix(quantity, head) {
    if (!this.has(quantity)) return null;
    if (head === null) return this.#means[quantity] ??= this.#mean(quantity);
    const size = this.queries.length * this.keys.length;
    return this.#all(quantity).subarray(head * size, (head + 1) * size);
  }

  #all(quantity) { return this.#values[quantity] ??= this.#unpack(quantity); }

  #unpack(quantity) {
    if (quantity === 'product') return productOf(this.#all('weights'), this.#all('gradients'));
    const kept = this.#packed.kept && bytesOf(this.#packed.kept);
    return unpackRows(this.#packed[quantity], this.keys.length, kept);
  }

  #mean(quantity) {
    const sum = new Float32Array(this.queries.length * this.keys.length);
    for (let head = 0; head < this.heads; head++) {
      const values = this.matrix(quantity, head);
      for (let i = 0; i < sum.length; i++) sum[i] += values[i] / this.heads;
    }
    return sum;
  }
}

/** By which path the gradient of one sequence of inputs came. A part's numbers are (heads x places), the length
 *  of the whole is (places), or null where it is not known. */
class Flow {
  constructor(layer, packed, sequences) {
    this.layer = layer;
    this.input = packed.input;
    this.tokens = sequences[packed.tokens];
    this.parts = packed.parts.map((part) => ({
      path: part.path,
      heads: part.heads,
      share: unpackRows(part.share, this.tokens.length),
      norm: unpackRows(part.norm, this.tokens.length),
    }));
    this.norm = packed.norm ? unpackRows(packed.norm, this.tokens.length) : null;
  }
}

function readSequence({ texts, special }) {
  const marked = new Set(special);
  return texts.map((text, index) => ({ text, special: marked.has(index) }));
}

/** Names that several layers share, for several sentences, get the first words of their queries. */
function tellApart(layers) {
  const counts = new Map();
  for (const { name } of layers) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const layer of layers) {
    const words = layer.queries.slice(0, 4).map((token) => readable(token.text)).join(' ');
    layer.label = counts.get(layer.name) > 1 ? `${layer.name} \u00b7 ${words}` : layer.name;
  }
}

function readReport() {
  const report = JSON.parse(byId('data').textContent);
  const sequences = report.sequences.map(readSequence);
  report.layers = report.layers.map((layer) => new Layer(layer, sequences));
  tellApart(report.layers);
  for (const { lines } of report.charts) {
    for (const line of lines) if (!Array.isArray(line.x)) line.x = lines[line.x].x;
  }
  return report;
}

const report = readReport();
