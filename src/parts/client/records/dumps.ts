import type { Preview } from '../../../proof/records/preview.ts';
import { elementOf } from '../element.ts';
import { previewChecks } from './answers.ts';
import { copyButtons } from './copy-buttons.ts';
import { type Cost, type DumpFile, NotRead, rowsOf } from './dump-file.ts';
import { keysOf } from './fetched.ts';
import type { Keys } from './receipts.ts';

/** Looks up a name in the dumps by reading ranges of their files, and checks the receipts found. */

const KEYS = '/.well-known/records-keys.json';
/** The most files read at the same time. */
const AT_ONCE = 4;

const form = elementOf('look', HTMLFormElement);
const output = elementOf('found', HTMLElement);
const nameField = elementOf('name', HTMLInputElement);
const spanField = elementOf('span', HTMLSelectElement);
const button = form.querySelector('button');

for (const block of document.querySelectorAll<HTMLElement>('[data-copy]')) copyButtons(block);

type Day = DumpFile & { day: string };
interface Found {
  day: string;
  preview: Preview;
}

const days: Day[] = [...document.querySelectorAll<HTMLElement>('tr[data-day]')].flatMap((row) => {
  const link = row.querySelector<HTMLAnchorElement>('a[data-format="parquet"]');
  return link === null ? [] : [{ day: row.dataset.day ?? '', url: link.href, bytes: Number(link.dataset.bytes) }];
});

/** A typed hostname in A-labels; null if it is not a hostname. */
function hostnameIn(typed: string): string | null {
  const name = typed.trim().replace(/^https?:\/\//i, '');
  const address = `http://${name}/`;
  if (!/^[^\s/?#@:\\]+$/.test(name) || !URL.canParse(address)) return null;
  const { hostname } = new URL(address);
  return hostname.replace(/\.$/, '') || null;
}

function element(tag: string, className: string, ...content: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
}

const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
const counted = (n: number, one: string): string => `${n.toLocaleString('en')} ${one}${n === 1 ? '' : 's'}`;

let running: AbortController | null = null;

async function look(): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const hostname = hostnameIn(nameField.value);
  if (hostname === null) {
    const typed = element('span', 'mono', nameField.value);
    output.replaceChildren(element('p', 'notice warn', typed, ' is not a hostname; give a name such as example.com.'));
    return;
  }
  const wanted = days.slice(0, Number(spanField.value));
  const path = hostname.split('.').reverse().join('.');
  const cost: Cost = { requests: 0, bytes: 0 };
  const found: Found[] = [];
  const faults: { day: string; why: string }[] = [];
  const state = element('p', 'state');
  const say = (done: number) => {
    state.textContent = `Reading day ${Math.min(done + 1, wanted.length)} of ${wanted.length}…`;
  };
  output.replaceChildren(state);
  const waiting = [...wanted];
  let done = 0;
  say(0);
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const { day } = next;
      try {
        for (const preview of await rowsOf(next, path, cost, signal)) found.push({ day, preview });
      } catch (error) {
        if (signal.aborted) return;
        faults.push({ day, why: error instanceof NotRead ? error.message : `it is damaged (${error})` });
      }
      say(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (signal.aborted) return;
  found.sort((a, b) => b.preview.seq - a.preview.seq);
  const keys = found.length === 0 ? null : await keysOf(KEYS).catch(() => null);
  if (signal.aborted) return;
  show({ hostname, wanted, found, faults, cost, keys });
}

interface Result {
  hostname: string;
  wanted: Day[];
  found: Found[];
  faults: { day: string; why: string }[];
  cost: Cost;
  /** Null when the keys could not be read. */
  keys: Keys | null;
}

function show({ hostname, wanted, found, faults, cost, keys }: Result): void {
  const name = element('strong', 'mono', hostname);
  const read = wanted.length - faults.length;
  const span = wanted.length === 1 ? `the day ${wanted[0]?.day}` : `the newest ${counted(wanted.length, 'day')}`;
  const parts: HTMLElement[] = [];
  if (faults.length > 0) {
    const lines = faults.map(({ day, why }) => element('li', '', element('strong', '', day), `: ${why}.`));
    parts.push(
      element('div', 'notice warn', element('p', '', 'Not all days could be read:'), element('ul', '', ...lines)),
    );
  }
  if (found.length > 0) {
    const { table, failed } = tableOf(found, keys);
    const seen = new Set(found.map(({ day }) => day)).size;
    const head = `: ${counted(found.length, 'observation')} on ${seen} of ${counted(read, 'day')}. `;
    let verdict = `${found.length === 1 ? 'Its receipt holds' : 'All receipts hold'}: signature, and each field against the signed root.`;
    if (keys === null) verdict = `The service’s keys could not be read, so no receipt was checked.`;
    else if (failed > 0) verdict = `${counted(failed, 'receipt')} did not hold: do not rely on it.`;
    parts.push(element('p', 'state', name, head, verdict), table);
  } else if (read > 0) {
    const more = wanted.length < days.length ? ' Look in more days, or for' : ' Look for';
    parts.push(
      element(
        'p',
        'notice',
        ...['No dump of ', span, ' has ', name],
        `. It was not observed then, has opted out, or is not watched by the operator. Only exactly this name was looked for.${more} a name below it, such as `,
        element('span', 'mono', hostname.startsWith('www.') ? hostname.slice(4) : `www.${hostname}`),
        '.',
      ),
    );
  }
  const whole = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const keyed = found.length > 0 ? ', and the signing keys' : '';
  const sum =
    cost.requests === 0
      ? 'All of it had been read before: nothing was asked of any server.'
      : `Read in ${counted(cost.requests, 'request')}: ${sizeText(cost.bytes)} of ${counted(wanted.length, 'file')} with ${sizeText(whole)}${keyed}. The API was not asked.`;
  parts.push(element('p', 'small faint cost', sum));
  output.replaceChildren(...parts);
}

/** Observations, newest first. Cells equal to the row above are left empty. */
function tableOf(found: Found[], keys: Keys | null): { table: HTMLElement; failed: number } {
  let failed = 0;
  const rows = found.map(({ preview }, n) => {
    const newer = found[n - 1]?.preview;
    const faults = keys === null ? null : [...previewChecks(preview, keys)].filter(({ holds }) => !holds);
    if (faults !== null && faults.length > 0) failed++;
    const at = preview.observed_at;
    const time = element('time', '', `${at.slice(0, 10)} ${at.slice(11, 16)}`);
    time.setAttribute('datetime', at);
    const day = element('th', 'fit', time);
    day.setAttribute('scope', 'row');
    const said =
      faults === null ? 'not checked' : faults.length === 0 ? 'holds' : faults.map(({ title }) => title).join(', ');
    return element(
      'tr',
      '',
      day,
      cell('Number:', 'num', preview.seq.toLocaleString('en')),
      cell('Name servers:', '', ...valuesOf(preview.nameservers, newer?.nameservers)),
      cell('Values:', '', ...valuesOf(typesOf(preview), newer && typesOf(newer))),
      cell('Receipt:', `receipt ${faults === null ? '' : faults.length === 0 ? 'good' : 'bad'}`, said),
    );
  });
  const heads = ['Observed (UTC)', 'Number', 'Name servers', 'Values by type', 'Receipt'].map((text, n) => {
    const head = element('th', n === 1 ? 'num' : '', text);
    head.setAttribute('scope', 'col');
    return head;
  });
  const caption = element('caption', 'unseen', 'Observations, the newest first');
  const body = [element('thead', '', element('tr', '', ...heads)), element('tbody', '', ...rows)];
  return { table: element('table', 'stack', caption, ...body), failed };
}

function cell(label: string, className: string, ...content: (Node | string)[]): HTMLElement {
  const made = element('td', className, ...content);
  made.dataset.label = label;
  return made;
}

const typesOf = ({ summary }: Preview): string[] =>
  Object.entries(summary).flatMap(([type, count]) => (count === 0 ? [] : [`${type.replace('_', ' ')} ${count}`]));

function valuesOf(values: string[], newer: string[] | undefined): HTMLElement[] {
  if (newer !== undefined && JSON.stringify(values) === JSON.stringify(newer))
    return [element('span', 'same', 'the same')];
  if (values.length === 0) return [element('span', 'same', 'none')];
  return [element('ul', '', ...values.map((value) => element('li', 'mono', value)))];
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void look();
});

// A link may prefill the hostname, but the reader must still start the look-up.
nameField.value = new URLSearchParams(location.search).get('name') ?? '';
// Until now the button is disabled, so that a form without its script sends nothing to the server.
if (button !== null) button.disabled = false;
