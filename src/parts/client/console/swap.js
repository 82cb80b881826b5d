/**
 * Forms with `data-swap` show their result without loading a new page: the part of the page between header and footer
 * is replaced. Elements with `data-drag` can be dragged to elements with `data-drop`, which sends the same request as a
 * button beside them. Without this script, the same forms load pages.
 */
const main = () => document.querySelector('main');
let asked = 0;

async function show(url, focus) {
  const mine = ++asked;
  const response = await fetch(url, { headers: { Accept: 'text/html' } }).catch(() => null);
  if (mine !== asked) return;
  if (!response?.ok) return location.assign(url);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const top = scrollY;
  main().replaceWith(page.querySelector('main'));
  history.replaceState(null, '', url);
  scrollTo(0, top);
  const button = focus && document.getElementById(focus);
  if (button && !button.disabled) button.focus();
  else if (button) button.parentElement.querySelector('button:not(:disabled)')?.focus();
  else if (focus !== null) (main().querySelector('.change') ?? main()).focus({ preventScroll: true });
}

function addressOf(form, submitter, more = []) {
  const data = new URLSearchParams(new FormData(form, submitter));
  for (const [name, value] of more) data.set(name, value);
  return `${form.getAttribute('action')}?${data}`;
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.matches('form[data-swap]')) return;
  event.preventDefault();
  show(addressOf(form, event.submitter), event.submitter?.id ?? '');
});

document.addEventListener('change', ({ target }) => {
  const form = target.closest('form[data-swap]');
  if (form && target.matches('[type="checkbox"], [type="datetime-local"]')) show(addressOf(form, null), null);
});

let dragged = null;
const groupOf = (element) => element.closest('[data-move]');

document.addEventListener('dragstart', (event) => {
  dragged = event.target.closest?.('[data-drag]') ?? null;
  if (dragged === null) return;
  event.dataTransfer.effectAllowed = 'move';
  event.dataTransfer.setData('text/plain', dragged.dataset.drag);
});

const targetOf = (event) => {
  const target = event.target.closest?.('[data-drop]');
  return dragged && target && groupOf(target) === groupOf(dragged) ? target : null;
};

document.addEventListener('dragover', (event) => {
  const target = targetOf(event);
  for (const over of document.querySelectorAll('.over')) if (over !== target) over.classList.remove('over');
  if (target === null) return;
  event.preventDefault();
  target.classList.add('over');
});

document.addEventListener('drop', (event) => {
  const target = targetOf(event);
  if (target === null) return;
  event.preventDefault();
  const form = target.closest('form');
  show(addressOf(form, null, [[groupOf(target).dataset.move, `${dragged.dataset.drag}@${target.dataset.drop}`]]), null);
});

document.addEventListener('dragend', () => {
  dragged = null;
  for (const over of document.querySelectorAll('.over')) over.classList.remove('over');
});
