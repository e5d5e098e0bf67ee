// The paths of one layer as ribbons, from the gradient of its output back to that of one input.

const ribbonSize = { width: 400, bands: 150, slot: 17, top: 30, node: 5, chip: 104 };

/** Where each ribbon lies: { path, value, height, at: [y of the output, of the middle, of the input] }. */
function ribbonsOf(flow, place) {
  const bandList = bandsOf(flow, place, false).filter(({ value }) => Number.isFinite(value));
  const scale = ribbonSize.bands / bandList.reduce((sum, { value }) => sum + Math.abs(value), 1e-30);
  let end = ribbonSize.top, middle = ribbonSize.top;
  const byDirection = [...bandList.filter(({ value }) => value >= 0), ...bandList.filter(({ value }) => value < 0)];
  const ends = new Map(byDirection.map(({ path, value }) => {
    const place = [path, end];
    end += Math.abs(value) * scale;
    return place;
  }));
  const ribbons = bandList.map(({ path, value }) => {
    const height = Math.abs(value) * scale, slot = Math.max(ribbonSize.slot, height);
    const ribbon = { path, value, height, at: [ends.get(path), middle + (slot - height) / 2, ends.get(path)] };
    middle += slot + 6;
    return ribbon;
  });
  const shift = (middle - 6 - end) / 2;  // the nodes are as high as the middle of the picture
  for (const { at } of ribbons) { at[0] += shift; at[2] += shift; }
  return { ribbons, scale, top: ribbonSize.top + shift, bottom: end + shift, height: middle };
}

function ribbonShape({ at, height }) {
  const { width } = ribbonSize, x = [10, width * 0.36, width * 0.64, width - 10];
  const curve = (fromX, fromY, toX, toY) => {
    const half = (fromX + toX) / 2;
    return `C${half} ${fromY} ${half} ${toY} ${toX} ${toY}`;
  };
  return `M${x[0]} ${at[0]}${curve(x[0], at[0], x[1], at[1])}H${x[2]}${curve(x[2], at[1], x[3], at[2])}` +
    `v${height}${curve(x[3], at[2] + height, x[2], at[1] + height)}H${x[1]}` +
    `${curve(x[1], at[1] + height, x[0], at[0] + height)}Z`;
}

function makeRibbon(ribbon) {
  const shape = makeSvg('path', { d: ribbonShape(ribbon), class: ribbon.value < 0 ? 'ribbon against' : 'ribbon' });
  shape.style.fill = colourOfPath(ribbon.path);
  const x = ribbonSize.width / 2, y = ribbon.at[1] + ribbon.height / 2, { chip, slot } = ribbonSize;
  const back = makeSvg('rect', {
    x: x - chip / 2, y: y - slot / 2, width: chip, height: slot, rx: slot / 2, class: 'chip',
  });
  const label = makeSvg('text', { x, y, class: 'on-ribbon' }, `${ribbon.path} ${formatPart(ribbon.value)}`);
  return [shape, back, label];
}

/** The box of attention around all ribbons but the residual one. */
function makeAttentionBox(ribbons, height) {
  const inside = ribbons.filter(({ path }) => path !== 'residual');
  if (!inside.length) return [];
  const top = Math.min(...inside.map(({ at, height: own }) => Math.min(at[1], at[1] + own / 2 - ribbonSize.slot / 2)));
  return [makeSvg('rect', { x: ribbonSize.width * 0.33, width: ribbonSize.width * 0.34, y: top - 3,
                            height: height - top, rx: 6, class: 'attention-box' }),
          makeSvg('text', { x: ribbonSize.width / 2, y: height + 12, class: 'box-name' }, 'attention')];
}

function makeNodes({ scale, top, bottom }) {
  const { width, node } = ribbonSize;
  const wholeHeight = state.measure === 'share' ? scale : bottom - top;
  return [
    makeSvg('rect', { x: 10 - node, width: node, y: top, height: bottom - top, class: 'node' }),
    makeSvg('rect', { x: width - 10, width: node, y: top, height: wholeHeight, class: 'node' }),
  ];
}

function drawRibbons(place, flow, at) {
  const layout = ribbonsOf(flow, at);
  const { width } = ribbonSize;
  const where = at === null ? [measures[state.measure].together] : ['at ', makeToken(flow.tokens[at].text)];
  const picture = makeSvg('svg', { viewBox: `0 0 ${width} ${layout.height + 20}`, role: 'img',
    'aria-label': describeBands(bandsOf(flow, at, false)).map(textOf).join(', ') },
    makeSvg('text', { x: 5, y: 14, class: 'end-name' }, 'gradient of the output'),
    makeSvg('text', { x: width - 5, y: 14, class: 'end-name right' }, `gradient of the ${flow.input}`),
    ...makeAttentionBox(layout.ribbons, layout.height), ...layout.ribbons.flatMap(makeRibbon), ...makeNodes(layout));
  const against = state.measure === 'share' && layout.ribbons.some(({ value }) => value < 0);
  place.replaceChildren(make('p', { class: 'chosen' }, `${flow.input}, `, ...where), picture);
  if (against) {
    place.append(makeNote('A pale band pulls the other way: the full ones less the pale ones make 100\u2009%, the ' +
                          'bar at the right.'));
  }
}
