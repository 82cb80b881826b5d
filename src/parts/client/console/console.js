// Runs on every page of the console: keyboard shortcuts, the browser's time zone in forms, and protection against
// double clicks that send a form twice.
const dialog = document.getElementById('shortcuts');
const root = document.documentElement.dataset.root;
let isGoing = false;

const isTyping = (target) => target.closest('input, textarea, select, [contenteditable="true"]') !== null;

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const { key } = event;
  if (isGoing) {
    isGoing = false;
    const link = dialog.querySelector(`[data-key="g ${CSS.escape(key)}"]`);
    if (link !== null) location.href = link.href;
  } else if (key === '?') dialog.showModal();
  else if (key === 'g') isGoing = true;
  else if (key === 'n') dialog.querySelector('[data-key="n"]')?.click();
  else if (key === '/') {
    const field = document.querySelector('main input[type="search"]');
    if (field === null) location.href = `${root}pieces`;
    else field.focus();
    event.preventDefault();
  } else if (key === 'j' || key === 'k') {
    const links = [...document.querySelectorAll('main :is(tbody th a, .lines li > a)')];
    const at = links.indexOf(document.activeElement);
    links[key === 'j' ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0)]?.focus();
  }
});

document.querySelector('[data-opens="shortcuts"]')?.addEventListener('click', () => dialog.showModal());

// On a phone, the navigation is one row that may extend beyond the screen.
const here = document.querySelector('.rooms [aria-current]');
const row = here?.closest('.rooms');
if (row?.scrollWidth > row?.clientWidth) row.scrollLeft += here.getBoundingClientRect().left - row.clientWidth / 3;

// The browser knows the editor's time zone. A form that was sent back keeps the typed value.
const zone = document.querySelector('input[name="zone"][data-default]');
if (zone !== null) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? zone.value;

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
for (const time of document.querySelectorAll('main time[datetime]')) {
  const at = new Date(time.dateTime);
  if (!Number.isNaN(at.getTime())) time.title = local.format(at);
}

document.addEventListener('submit', ({ target, submitter }) => {
  // After the form's data was read, which includes the button's own value.
  if (target.method === 'post') setTimeout(() => submitter?.setAttribute('disabled', ''));
});
// When the browser restores a page from its cache, enable the buttons again.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const button of document.querySelectorAll('button[disabled]')) button.removeAttribute('disabled');
});
