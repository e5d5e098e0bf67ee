// Axes of charts: where a number lies, and which places get a mark.

/** Maps numbers to places from `start` to `end`. */
function makeAxisScale(low, high, log, start, end) {
  const forward = log ? Math.log10 : (value) => value;
  const [from, to] = [forward(low), forward(high)];
  return (value) => start + (forward(value) - from) / (to - from) * (end - start);
}

/** The ends of an axis that holds the values; something around a single one. */
function rangeOf(values, log) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (low < high) return [low, high];
  return log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
}

/** About `count` round numbers between the ends. */
function ticksOf(low, high, log, count) {
  if (log && high / low >= 10) return powersOfTen(low, high, count);
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return ticks;
}

function powersOfTen(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / count));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks;
}
