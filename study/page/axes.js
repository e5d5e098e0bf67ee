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

/** About `count` round numbers between the ends; whole ones where the axis counts something. */
function ticksOf(low, high, log, count, whole = false) {
  if (log && high / low >= 10) return powersOfTen(low, high, count);
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const step = whole ? Math.max(1, round) : round;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return ticks;
}

/** Powers of ten, and twice and five times them where they are few. */
function powersOfTen(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / count));
  const factors = last - first < 2 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = first - step; power <= last; power += step) {
    ticks.push(...factors.map((factor) => factor * 10 ** power));
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}
