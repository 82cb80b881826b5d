/** Adds the parts of the documentation that need a script: copy buttons, one language for all samples, and requests to try. */

import { copyButtons } from './copy-buttons.ts';

for (const block of document.querySelectorAll<HTMLElement>('[data-copy]')) copyButtons(block);

const choices = [...document.querySelectorAll<HTMLInputElement>('.tabs input[type=radio]')];
for (const choice of choices) {
  choice.addEventListener('change', () => {
    // Keeps the clicked sample in place, although the height of the samples above it changes.
    const before = choice.getBoundingClientRect().top;
    for (const other of choices) if (other.value === choice.value) other.checked = true;
    scrollBy({ top: choice.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}

/** The longest body to show, in UTF-16 units. */
const SHOWN = 20_000;

const form = document.querySelector<HTMLFormElement>('[data-try]');
if (form !== null) tryRequests(form);

function tryRequests(form: HTMLFormElement): void {
  const find = <T extends Element>(what: string) => form.querySelector<T>(what) as T;
  const [path, key] = [find<HTMLInputElement>('#try-path'), find<HTMLInputElement>('#try-key')];
  const [problem, answer] = [find<HTMLElement>('.problem'), find<HTMLElement>('.answer')];
  const button = find<HTMLButtonElement>('button[type=submit]');
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.hidden = true;
    try {
      show(await ask(path.value.trim(), key.value.trim()));
    } catch (error) {
      answer.hidden = true;
      problem.hidden = false;
      problem.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      button.disabled = false;
    }
  });

  function show({ response, text, ms }: { response: Response; text: string; ms: number }): void {
    const size = new Intl.NumberFormat('en').format(new TextEncoder().encode(text).length);
    find<HTMLElement>('.line').replaceChildren(
      element('span', response.ok ? 'tag good' : 'tag bad', String(response.status)),
      ` ${response.statusText} · ${Math.round(ms)} ms · ${size} bytes`,
    );
    const rows = [...response.headers].map(([name, value]) => {
      const row = document.createElement('tr');
      const head = element('th', '', name);
      head.scope = 'row';
      row.append(head, element('td', 'mono', value));
      return row;
    });
    find('tbody').replaceChildren(...rows);
    const body = pretty(text);
    find('pre').textContent = body.length > SHOWN ? `${body.slice(0, SHOWN)}\n… cut here` : body;
    answer.hidden = false;
  }
}

function element<Name extends 'span' | 'th' | 'td'>(
  name: Name,
  look: string,
  text: string,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (look !== '') made.className = look;
  made.textContent = text;
  return made;
}

async function ask(path: string, key: string) {
  const url = new URL(path, location.origin);
  if (!path.startsWith('/v1') || !/^\/v1(?:\/|$)/.test(url.pathname) || url.origin !== location.origin)
    throw new Error(`${JSON.stringify(path.slice(0, 80))} is no path of this API; begin it with /v1`);
  // Streams do not end, so their body never completes.
  if (url.pathname === '/v1/stream') throw new Error('/v1/stream does not end; follow it with curl -N');
  if (!/^[\x21-\x7e]*$/.test(key)) throw new Error('a key has neither spaces nor letters beyond ASCII; copy it again');
  const began = performance.now();
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...(key === '' ? {} : { 'X-Service-Key': key }),
  };
  const response = await fetch(url, { headers, credentials: 'omit', cache: 'no-store' }).catch(() => {
    throw new Error('there was no response; check your connection, and send it again');
  });
  const text = await response.text();
  return { response, text, ms: performance.now() - began };
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
