// The table behind a picture: to be looked at, and as a file of comma-separated values.

const tableRows = 1000;  // more are in the file alone

function csvField(value) {
  if (value === null || Number.isNaN(value)) return '';
  const text = typeof value === 'number' ? String(Number(value.toPrecision(7))) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function csvOf({ columns, rows }) {
  return [columns, ...rows].map((row) => row.map(csvField).join(',')).join('\r\n') + '\r\n';
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv' }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function tableCell(value) {
  if (typeof value === 'number' || value === null) {
    return make('td', { class: 'number', title: String(value) }, format(value));
  }
  return make('td', {}, makeToken(value));
}

function makeTable({ columns, rows }) {
  const head = make('tr', {}, ...columns.map((column) => make('th', { scope: 'col' }, column)));
  const body = rows.slice(0, tableRows).map((row) => make('tr', {}, ...row.map(tableCell)));
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...body));
}

/** Buttons that show and save what `build` returns, { columns, rows }, and draw it anew on `keys`. */
function addTable(place, name, keys, build) {
  const box = make('div', { class: 'table-box', hidden: true, tabindex: 0, role: 'region',
                            'aria-label': `Numbers of ${name}` });
  const show = () => {
    if (box.hidden) return;
    const table = build();
    const more = table.rows.length - tableRows;
    box.replaceChildren(makeTable(table),
                        ...(more > 0 ? [make('p', {}, `${more} more rows are in the file.`)] : []));
  };
  const toggle = make('button', { type: 'button', 'aria-expanded': 'false', onclick: () => {
    box.hidden = !box.hidden;
    toggle.setAttribute('aria-expanded', String(!box.hidden));
    toggle.textContent = box.hidden ? 'Show the numbers' : 'Hide the numbers';
    show();
  } }, 'Show the numbers');
  const save = make('button', { type: 'button', class: 'save', onclick: () => download(`${name}.csv`, csvOf(build())) },
                    'Save as CSV');
  place.replaceChildren(make('div', { class: 'buttons' }, toggle, save), box);
  drawOn(keys, show);
}
