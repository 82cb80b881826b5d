/** Sends a GET request to the paper's own public API, and shows the response. */
const form = document.querySelector('.terminal form');
const field = document.getElementById('path');
const said = document.querySelector('.terminal .said');
const answer = document.querySelector('.terminal .answer code');
const curl = document.querySelector('.terminal .curl code');
const { base, root } = form.dataset;

/** The most characters of a response to show. */
const SHOWN = 20_000;

/** The address on this host, or null for a path outside of the paper. */
function addressOf(path) {
  if (!path.startsWith('/')) return null;
  const url = new URL(`${base}${path}`, location.href);
  return url.origin === location.origin && url.pathname.startsWith(`${base}/`) ? url : null;
}

let asked = 0;

async function send(path) {
  const turn = ++asked;
  const url = addressOf(path);
  if (url === null) {
    said.textContent = 'A path of this paper begins with a slash, such as /api/v1/sections';
    return;
  }
  field.value = path;
  curl.textContent = `curl -sS '${root}${path.replaceAll("'", '%27')}'`;
  said.textContent = `GET ${path} …`;
  try {
    // Sends no cookies, so that it gets what any program without a session gets.
    const response = await fetch(url, { headers: { Accept: 'application/json, text/plain' }, credentials: 'omit' });
    const text = await response.text();
    if (turn !== asked) return;
    const type = response.headers.get('Content-Type') ?? 'no type';
    const size = new Blob([text]).size.toLocaleString('en');
    const etag = response.headers.get('ETag');
    said.textContent = [
      `${response.status} ${response.statusText}`.trim(),
      type,
      `${size} bytes`,
      etag && `ETag ${etag}`,
    ]
      .filter(Boolean)
      .join(' · ');
    show(text);
  } catch {
    if (turn === asked) said.textContent = 'No answer: there is no connection, or no server behind this page.';
  }
}

function show(text) {
  let whole = text;
  try {
    whole = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: show it unchanged.
  }
  answer.textContent = whole.length > SHOWN ? `${whole.slice(0, SHOWN)}\n…` : whole;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  send(field.value.trim());
});
document.querySelector('.terminal .tries').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link === null || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  send(link.textContent);
});
