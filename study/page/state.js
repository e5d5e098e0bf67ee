// What the reader has chosen. A picture names what it depends on, and is drawn anew when that changes.

const state = {
  quantity: 'weights',
  layer: 0,
  head: 0,
  mean: false,         // heads averaged
  hideSpecial: false,  // padding and special tokens
  scale: 'own',        // colours up to the largest number of each head, or of all of them: 'common'
  layers: new Set(report.layers.keys()),
  measure: 'share',    // of the bands: 'share' or 'norm'
  splitHeads: false,   // bands
  theme: 'system',
  width: innerWidth,
};

const pictures = [];

/** Calls `draw` whenever one of `keys` changes. */
function drawOn(keys, draw) { pictures.push({ keys, draw }); }

function change(choices) {
  const changed = Object.keys(choices).filter((key) => choices[key] !== state[key]);
  Object.assign(state, choices);
  for (const { keys, draw } of pictures) if (keys.some((key) => changed.includes(key))) draw();
}

/** Moves to a head, within what its layer has. */
function chooseHead(layer, head) {
  change({ layer, head: Math.min(head, report.layers[layer].heads - 1) });
}

const chosenLayer = () => report.layers[state.layer];
const chosenHead = () => (state.mean ? null : state.head);
const nameOfHead = (head) => (head === null ? 'mean of heads' : `head ${head}`);
const shownLayers = () => [...report.layers.keys()].filter((index) => state.layers.has(index));

/** The places of the tokens that are to be seen: all of them where only special ones are. */
function shownPlaces(tokens) {
  const places = [...tokens.keys()];
  const words = places.filter((place) => !tokens[place].special);
  return state.hideSpecial && words.length ? words : places;
}
