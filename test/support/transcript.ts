import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Answer } from './http.ts';
import { send } from './send.ts';

/** One request and its expected response. */
export interface Exchange {
  /** The number of its first line in the file, from 1. */
  line: number;
  method: string;
  /** Under the paper's root. */
  path: string;
  headers: [name: string, value: string][];
  body: string;
  status: number;
  /** The expected value of each header; null when it must be absent. */
  expected: [name: string, value: string | null][];
  answer: string;
}

/** Where a transcript is run. */
export interface Lane {
  url: string;
  /** The path prefix on this host: `/paper`, or nothing on a paper's own domain. */
  prefix: string;
  host?: string;
  /** The values of `{name}` placeholders. */
  words: Record<string, string>;
}

/** The patterns of `<name>`; `<name:word>` stores the match as `{word}`. */
const FORMS: Record<string, string> = {
  id: '[0-9a-z]{26}',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z',
  day: '\\d{4}-\\d\\d-\\d\\d',
  clock: '\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z',
  hash: 'sha256:[0-9a-f]{64}',
  key: '(?:nrf|drs)_[0-9A-Za-z]{43}',
  digest: '[0-9a-f]{16}',
  kid: '[0-9A-Za-z_-]{43}',
  base64: '[0-9A-Za-z+/]+=*',
  cursor: '[0-9A-Za-z_-]+',
  door: '[0-9a-z.:-]+/door',
  hex: '[0-9a-f]+',
  number: '\\d+',
  etag: '"[^"]+"',
};

/**
 * Parses a transcript. `#` starts a comment, `>` a request (its first line, its headers, an empty `>` line, its body),
 * and `<` the status and some headers of the response (`!Name` must be absent); what follows is the body. JSON bodies
 * are compared member by member; a member or element `…` stands for any others.
 */
export function readTranscript(file: string): Exchange[] {
  const exchanges: Exchange[] = [];
  let last: 'request' | 'answer' | 'body' = 'body';
  let isHead = true;
  for (const [index, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    const now = exchanges.at(-1);
    const rest = text.slice(2);
    if (text.startsWith('#')) continue;
    if (text.startsWith('>')) {
      if (last === 'request' && now !== undefined) {
        if (rest === '' && isHead) isHead = false;
        else if (isHead) now.headers.push(header(rest));
        else now.body += `${rest}\n`;
      } else {
        const [method = '', path = ''] = rest.split(' ');
        exchanges.push({
          line: index + 1,
          method,
          path,
          headers: [],
          body: '',
          status: 0,
          expected: [],
          answer: '',
        });
        [last, isHead] = ['request', true];
      }
    } else if (now === undefined) assert.equal(text.trim(), '', `${file}:${index + 1}`);
    else if (text.startsWith('<')) {
      if (now.status === 0) now.status = Number(rest);
      else now.expected.push(rest.startsWith('!') ? [rest.slice(1), null] : header(rest));
      last = 'answer';
    } else if (last !== 'request') now.answer += `${text}\n`;
  }
  return exchanges;
}

function header(text: string): [string, string] {
  const at = text.indexOf(': ');
  assert.ok(at > 0, `${text} is a header`);
  return [text.slice(0, at), text.slice(at + 2)];
}

/** Runs an exchange and fails when the response differs. Stores what the response provides in the lane's words. */
export async function play(exchange: Exchange, lane: Lane): Promise<Answer> {
  const { method, path } = exchange;
  const told = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => lane.words[name] ?? whole);
  const headers: Record<string, string | string[]> = {};
  if (lane.host !== undefined) headers.host = lane.host;
  for (const [name, value] of exchange.headers) headers[name.toLowerCase()] = told(value);
  const body = told(exchange.body.trim());
  if (body !== '') headers['content-type'] ??= 'application/json';
  const answer = await send(lane.url, {
    method,
    path: lane.prefix + told(path),
    headers,
    ...(body === '' ? {} : { body }),
  });
  const said = `${method} ${path} answered ${answer.status} ${JSON.stringify(answer.headers)}\n${answer.text}`;
  assert.equal(answer.status, exchange.status, said);
  for (const [name, value] of exchange.expected) {
    const got = answer.headers[name.toLowerCase()];
    if (value === null) assert.equal(got, undefined, `${name} is absent: ${said}`);
    else assert.ok(matches(String(got), told(value), lane.words), `${name} is not ${told(value)}: ${said}`);
  }
  const expected = told(exchange.answer.trim());
  if (/^[{[]/.test(expected)) compare(JSON.parse(answer.text), JSON.parse(expected), 'body', lane.words);
  else
    assert.ok(
      matches(answer.text.replaceAll('\r\n', '\n').trim(), expected, lane.words),
      `the body is not ${expected}: ${said}`,
    );
  return answer;
}

/** Whether a text matches a pattern; stores the named parts. */
function matches(text: string, pattern: string, words: Record<string, string>): boolean {
  const kept: string[] = [];
  const source = pattern
    .split(/(<\w+(?::\w+)?>|…)/)
    .map((part) => {
      if (part === '…') return '[\\s\\S]*';
      const [, form = '', word] = /^<(\w+)(?::(\w+))?>$/.exec(part) ?? [];
      if (FORMS[form] === undefined) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      if (word !== undefined) kept.push(word);
      return word === undefined ? `(?:${FORMS[form]})` : `(${FORMS[form]})`;
    })
    .join('');
  const found = new RegExp(`^${source}$`).exec(text);
  for (const [index, word] of kept.entries()) words[word] = found?.[index + 1] ?? '';
  return found !== null;
}

function compare(actual: unknown, expected: unknown, where: string, words: Record<string, string>): void {
  if (expected === '…') {
    assert.notEqual(actual, undefined, `${where} is there`);
  } else if (expected === '<number>') {
    assert.equal(typeof actual, 'number', `${where} is a number`);
  } else if (typeof expected === 'string') {
    assert.equal(typeof actual, 'string', `${where} is ${JSON.stringify(actual)}`);
    if (!matches(String(actual), expected, words)) assert.equal(actual, expected, where);
  } else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), `${where} is a list`);
    const rows = expected.filter((row) => row !== '…');
    if (rows.length === expected.length) assert.equal(actual.length, rows.length, `rows of ${where}`);
    for (const [index, row] of rows.entries()) compare(actual[index], row, `${where}[${index}]`, words);
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${where} is an object`);
    const { '…': more, ...members } = expected as Record<string, unknown>;
    const names = Object.keys(actual).filter((name) => more === undefined || name in members);
    assert.deepEqual(names.sort(), Object.keys(members).sort(), `members of ${where}`);
    for (const [name, value] of Object.entries(members)) {
      compare((actual as Record<string, unknown>)[name], value, `${where}.${name}`, words);
    }
  } else assert.equal(actual, expected, where);
}
