// Puts the page together: sections for which there is no data stay hidden.

const darkSystem = matchMedia('(prefers-color-scheme: dark)');

function setUpTheme() {
  let choice = 'system';
  const apply = () => {
    document.documentElement.style.colorScheme = choice === 'system' ? '' : choice;
    forgetColours();
    change({ theme: choice === 'system' ? (darkSystem.matches ? 'dark' : 'light') : choice });
  };
  byId('theme').append(makeSwitch('theme', 'Theme', [['system', 'Auto'], ['light', 'Light'], ['dark', 'Dark']], choice,
                                  (chosen) => { choice = chosen; apply(); }));
  darkSystem.addEventListener('change', apply);
  apply();
}

function setUpHeader() {
  document.title = report.title || 'heed';
  byId('title').textContent = report.title;
  const paragraphs = report.text.split(/\n\s*\n/).filter(Boolean);
  byId('text').append(...paragraphs.map((paragraph) => make('p', { dir: 'auto' }, paragraph)));
}

setUpHeader();
setUpTheme();
if (report.layers.length) {
  setUpControls();
  setUpModelView();
  setUpHeadView();
  setUpMatrixView();
}
if (report.layers.some(({ flows }) => flows.length)) setUpFlowView();
if (report.layers.some(({ entropy, saturation }) => entropy || saturation)) setUpStatistics();
if (report.charts.some(({ lines }) => lines.length)) setUpCharts();
addEventListener('resize', () => change({ width: innerWidth }));
document.documentElement.dataset.ready = 'true';
