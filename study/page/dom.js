// Elements, tokens and numbers as text, and the small window of numbers beside the pointer.

const byId = (id) => document.getElementById(id);

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
}

/** An element; attributes that begin with "on" are listeners, children that are strings become text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** The same for a part of an SVG picture. */
function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** Whitespace and control characters made visible. */
function readable(text) {
  if (text === '') return '\u2205';
  return text
    .replace(/^[ \u00a0]+|[ \u00a0]+$/g, (spaces) => '\u2423'.repeat(spaces.length))
    .replace(/[\p{Cc}\u2028\u2029]/gu, (c) => (c === '\n' ? '\u23ce' : c === '\t' ? '\u21e5' : '\u25a1'));
}

/** The same within a line of text, so that its direction turns nothing around it. */
const isolated = (text) => `\u2068${readable(text)}\u2069`;

/** A token in an element of its own, so that its direction turns nothing around it. */
function makeToken(text, attributes = {}) {
  return make('bdi', { title: text, ...attributes }, readable(text));
}

/** A dotted name, which may break after each dot. */
function makeName(text) {
  const parts = readable(text).split('.').flatMap((part, i) => (i ? ['.', make('wbr'), part] : [part]));
  return make('bdi', { title: text }, ...parts);
}

/** A number for reading: three digits. */
function format(value) {
  if (value === null || value === undefined) return 'not known';
  if (!Number.isFinite(value)) return 'not finite';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e-3 && size < 1e5
    ? String(Number(value.toPrecision(3)))
    : value.toExponential(2).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return text.replace(/-/g, '\u2212');
}

const formatPercent = (share) =>
  Number.isFinite(share) ? `${format(Math.round(share * 1000) / 10)}\u2009%` : format(share);

const plural = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A spot of colour before what it stands for. */
function makeKey(colour) {
  const key = make('span', { class: 'key' });
  key.style.background = colour;
  return key;
}

const makeNote = (text) => make('p', { class: 'note' }, text);

/** Of a line beside the pointer, which is text, or [colour, text]. */
const textOf = (line) => (typeof line === 'string' ? line : line[1]);

/** Shows such lines beside a place of the window. */
function showTip(x, y, lines) {
  const tip = byId('tip');
  tip.replaceChildren(...lines.map((line) =>
    make('div', {}, ...(typeof line === 'string' ? [] : [makeKey(line[0])]), textOf(line))));
  tip.hidden = false;
  const left = x + 14 + tip.offsetWidth > innerWidth ? x - 14 - tip.offsetWidth : x + 14;
  const top = Math.min(y + 14, innerHeight - tip.offsetHeight - 4);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function hideTip() { byId('tip').hidden = true; }

/** One of several elements can be reached with Tab; arrow keys move on from it. `step(key, index)` tells to
 *  which index a key leads, or undefined. */
function rove(elements, current, step) {
  elements.forEach((element, index) => {
    element.tabIndex = index === current ? 0 : -1;
    element.addEventListener('keydown', (event) => {
      const next = elements[step(event.key, index)];
      if (!next) return;
      event.preventDefault();
      for (const other of elements) other.tabIndex = other === next ? 0 : -1;
      next.focus();
    });
  });
}

/** { name: { label } } as what makeSwitch takes. */
const labelsOf = (choices) => Object.entries(choices).map(([name, { label }]) => [name, label]);

/** A group of radio buttons that looks like one switch. */
function makeSwitch(name, label, options, value, choose) {
  const buttons = options.map(([option, text]) => make('label', {},
    make('input', { type: 'radio', name, value: option, checked: option === value,
                    onchange: () => choose(option) }),
    make('span', {}, text)));
  return make('fieldset', { class: 'switch' }, make('legend', {}, label), ...buttons);
}

function makeCheckbox(id, label, checked, choose) {
  const box = make('input', { type: 'checkbox', id, checked, onchange: () => choose(box.checked) });
  return make('label', { class: 'check' }, box, label);
}
