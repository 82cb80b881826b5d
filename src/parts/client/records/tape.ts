import { elementOf } from '../element.ts';
import { tapeWords } from './tape-words.ts';

/** Refreshes the tape of the front page while the page is visible. */

interface Row {
  seq: number;
  at: string;
  domain: string;
  kind: string;
  line: string;
}

/** How often the tape is fetched, in ms. */
const EVERY = 15_000;

const body = elementOf('tape', HTMLElement);
const state = elementOf('tape-state', HTMLElement);

function cell(className: string, ...content: (string | Node)[]): HTMLElement {
  const made = document.createElement('td');
  made.className = className;
  made.append(...content);
  return made;
}

/** The small charts by domain that the page came with. New domains get theirs when the page is reloaded. */
const trends = new Map<string, Element>();
for (const row of body.children) {
  const drawn = row.querySelector('.trend');
  if (drawn !== null) trends.set(row.querySelector('.host')?.textContent ?? '', drawn);
}

function span(className: string, ...content: (string | Node)[]): HTMLElement {
  const made = document.createElement('span');
  made.className = className;
  made.append(...content);
  return made;
}

const arrow = (): HTMLElement => span('to', ' → ');

function rowOf({ seq, at, domain, kind, line }: Row, isNew: boolean): HTMLElement {
  const time = document.createElement('time');
  time.dateTime = at;
  time.textContent = `${at.slice(5, 10)} ${at.slice(11, 16)}`;
  const link = document.createElement('a');
  link.className = 'host';
  link.href = `/t/${domain}`;
  link.textContent = domain;
  const row = document.createElement('tr');
  row.dataset.seq = String(seq);
  if (isNew) row.className = 'new';
  const { what, values } = tapeWords(domain, line);
  const words = values.flatMap((part, index) => (index === 0 ? [part] : [arrow(), part]));
  const drawn = trends.get(domain)?.cloneNode(true);
  row.append(
    cell('fit faint', time),
    cell(
      'line',
      link,
      ' ',
      span(`tag ${kind}`, what),
      ...(words.length > 0 ? [' ', span('mono value', ...words)] : []),
    ),
    cell('drawn', ...(drawn ? [drawn] : [])),
  );
  return row;
}

async function refresh(): Promise<void> {
  if (document.hidden) return;
  const response = await fetch('/v1/tape').catch(() => null);
  if (!response?.ok) {
    state.textContent = 'not reached just now';
    return;
  }
  const { items } = (await response.json()) as { items: Row[] };
  const newest = Number((body.firstElementChild as HTMLElement | null)?.dataset.seq ?? 0);
  if (items.length > 0 && items[0]?.seq !== newest)
    body.replaceChildren(...items.map((row) => rowOf(row, row.seq > newest)));
  state.textContent = `live, asked at ${new Date().toISOString().slice(11, 19)} UTC`;
}

setInterval(refresh, EVERY);
document.addEventListener('visibilitychange', refresh);
state.textContent = 'live';
