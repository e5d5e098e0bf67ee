// The controls at the top: what is shown, of which layer and head, and how.

const hasGradients = report.layers.some((layer) => layer.has('gradients'));
const hasSpecial = report.layers.some((layer) =>
  [layer.queries, layer.keys, ...layer.flows.map(({ tokens }) => tokens)].flat().some(({ special }) => special));

const scales = { own: { label: 'each head\u2019s largest' }, common: { label: 'the largest of all' } };

function makeSelect(id, label, choose) {
  const select = make('select', { id, onchange: () => choose(Number(select.value)) });
  return make('label', { class: 'select' }, label, select);
}

function fillSelect(select, texts, chosen) {
  select.replaceChildren(...texts.map((text, index) => make('option', { value: index }, text)));
  select.value = chosen;
}

function drawSelects() {
  fillSelect(byId('layer'), report.layers.map(({ label }) => label), state.layer);
  fillSelect(byId('head-choice'), Array.from({ length: chosenLayer().heads }, (_, head) => String(head)), state.head);
  byId('head-choice').disabled = state.mean;
}

/** A box for each layer: whether the pictures of all layers show it. */
function makeLayerChooser() {
  const choose = (index, isChosen) => {
    const layers = new Set(state.layers);
    if (isChosen) layers.add(index);
    else layers.delete(index);
    change({ layers });
  };
  const boxes = report.layers.map(({ label }, index) =>
    makeCheckbox(`show-layer-${index}`, readable(label), true, (isChosen) => choose(index, isChosen)));
  const all = (isChosen) => () => {
    for (const box of chooser.querySelectorAll('input')) box.checked = isChosen;
    change({ layers: new Set(isChosen ? report.layers.keys() : []) });
  };
  const chooser = make('details', { class: 'chooser' }, make('summary', {}, 'Layers'),
    make('div', { class: 'choices' }, make('div', { class: 'buttons' },
      make('button', { type: 'button', onclick: all(true) }, 'All'),
      make('button', { type: 'button', onclick: all(false) }, 'None')), ...boxes));
  chooser.addEventListener('keydown', (event) => { if (event.key === 'Escape') chooser.open = false; });
  document.addEventListener('pointerdown', (event) => { if (!chooser.contains(event.target)) chooser.open = false; });
  return chooser;
}

function setUpControls() {
  const controls = byId('controls');
  controls.hidden = false;
  if (hasGradients) {
    controls.append(makeSwitch('quantity', 'Show', labelsOf(quantities), state.quantity,
                               (quantity) => change({ quantity })));
  }
  controls.append(makeSelect('layer', 'Layer', (layer) => chooseHead(layer, state.head)),
                  makeSelect('head-choice', 'Head', (head) => change({ head })));
  controls.append(makeSwitch('scale', 'Colours reach', labelsOf(scales), state.scale, (scale) => change({ scale })));
  controls.append(makeCheckbox('mean', 'Average heads', state.mean, (mean) => change({ mean })));
  if (hasSpecial) {
    controls.append(makeCheckbox('hide-special', 'Hide padding and markers', state.hideSpecial,
                                 (hideSpecial) => change({ hideSpecial })));
  }
  if (report.layers.length > 1) controls.append(makeLayerChooser());
  drawOn(['layer', 'head', 'mean'], drawSelects);
  drawSelects();
}
