import { elementOf } from '../element.ts';

/** Shows the receipt of a typed name without reloading the page. */

const form = elementOf('ask', HTMLFormElement);
const slip = elementOf('slip', HTMLElement);
const check = elementOf('check', HTMLElement);
const verdict = elementOf('verdict', HTMLElement);

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const name = String(new FormData(form).get('name') ?? '').trim();
  const address = `/?name=${encodeURIComponent(name)}`;
  slip.setAttribute('aria-busy', 'true');
  const answer = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => null);
  const found = answer && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('slip');
  // The server did not respond, or it refused: its own page says why.
  if (!found) return location.assign(address);
  slip.replaceChildren(...found.childNodes);
  slip.removeAttribute('aria-busy');
  verdict.replaceChildren();
  delete verdict.dataset.state;
  check.hidden = slip.querySelector('#preview') === null;
  history.replaceState(null, '', name === '' ? '/' : address);
});
