import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Hono } from 'hono';
import * as z from 'zod';
import { callerOf, proxyList } from '../../api/middleware/caller.ts';
import { formFields } from '../../api/middleware/form-body.ts';
import { requireUtf8Query } from '../../api/middleware/invalid.ts';
import { parseJson } from '../../api/middleware/json-body.ts';
import { keyOfRequest } from '../../api/middleware/key.ts';
import { withoutSecrets } from '../../api/middleware/log.ts';
import { readCursor } from '../../api/responses/paging.ts';
import { matchesEtag, wantsRecord } from '../../api/responses/send.ts';
import { csvRows } from '../../packages/import/src/csv.ts';
import { frontMatter } from '../../packages/import/src/front-matter.ts';
import { markdownOf } from '../../packages/import/src/html-markdown.ts';
import { pageHead } from '../../packages/import/src/page-head.ts';
import { attributesOf, replaced } from '../../packages/import/src/shortcodes.ts';
import { plainTemplates } from '../../packages/import/src/templates.ts';
import { tidyHtml } from '../../packages/import/src/tidy-html.ts';
import { aliasFormProblem, aliasFrom } from '../../src/desk/door/alias.ts';
import { filingProblems } from '../../src/desk/door/door.ts';
import { FilingBody } from '../../src/desk/door/filing.ts';
import { parseProse, withoutBoxes } from '../../src/desk/door/prose.ts';
import { asciiWords } from '../../src/desk/door/tag.ts';
import { readSource } from '../../src/desk/ingest/source-file.ts';
import { linkedPage } from '../../src/desk/linked-page.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { proseHtml } from '../../src/desk/press/prose-html.ts';
import { transcriptOf } from '../../src/desk/press/transcript.ts';
import { indexText, searchTerms } from '../../src/desk/search.ts';
import { wordCount } from '../../src/desk/story.ts';
import { inspectSvg } from '../../src/media/inspect-svg.ts';
import { letters } from '../../src/operate/audit/monitor/page-text.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { splitVkey } from '../../src/proof/key-text.ts';
import { parseNote } from '../../src/proof/note.ts';
import { proofFaults } from '../../src/proof/proof.ts';
import { parseDisclosure } from '../../src/proof/records/disclosure.ts';
import { parseObservation } from '../../src/proof/records/receipt.ts';
import { documentFaults } from '../../src/proof/records/verify/document-faults.ts';
import { documentIn } from '../../src/proof/records/verify/documents.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { hostsIn } from '../../src/records/probe/tls-probe.ts';
import { requireOneStatement } from '../../src/records/sql-query.ts';
import { valueMatch, valueWords } from '../../src/records/value-search.ts';
import { Fault } from '../../src/shared/fault.ts';
import { readAddress } from '../../src/shared/outbound/mail-address.ts';
import { faultOf } from '../../src/shared/outbound/mail-sender.ts';
import { shapeProblems } from '../../src/shared/shape.ts';
import { filing } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { assertLinear, type Frame, repeated, SHAPES } from './growth.ts';

const KIB = 1024;
/** Node takes no longer head of a request. */
const HEAD = 16 * KIB;
/** Bodies and files may be longer; what grows with the square shows by then. */
const BODY = 16 * KIB;
const PLAIN: Frame = ['', ''];

const folder = mkdtempSync(join(tmpdir(), 'broadsheet-growth-'));
after(() => rmSync(folder, { recursive: true }));

const rules = {
  sections: ['City'],
  personas: ['ines-calloway'],
  source_floor: 0,
  hasMedia: () => false,
  hasPage: () => false,
  aliasOwner: () => null,
  fact: () => null,
};
const utf8 = (text: string) => new TextEncoder().encode(text);
const json = (text: string): unknown => JSON.parse(text);
const app = new Hono()
  .onError((_, c) => c.text('refused', 400))
  .use(requireUtf8Query)
  .get('/q', (c) => c.json([c.req.query('a'), c.req.queries(), c.req.header('cookie')]))
  .get('/accept', (c) => c.text(String(wantsRecord(c))));
const noKeys = { find: () => null, touch: () => undefined } as never;

/** Every reader of what strangers send, the longest that it is given, and where in it a stranger may repeat himself. */
const READERS: [name: string, longest: number, frames: readonly Frame[], read: (text: string) => unknown][] = [
  ['form', 8 * BODY, [PLAIN, ['a=', '']], (text) => [...formFields(text)].length],
  [
    'query',
    HEAD,
    [
      ['http://a/q?', ''],
      ['http://a/q?a=', ''],
    ],
    (text) => app.request(text),
  ],
  ['cookie', HEAD, [PLAIN], (cookie) => app.request('http://a/q', { headers: { cookie } })],
  ['Accept', HEAD, [PLAIN, ['text/html;', '']], (accept) => app.request('http://a/accept', { headers: { accept } })],
  ['If-None-Match', HEAD, [PLAIN], (text) => matchesEtag(text, '"x"')],
  [
    'Authorization',
    HEAD,
    [PLAIN, ['Bearer ', ''], ['Bearer a', ' b']],
    (text) => keyOfRequest(noKeys, (name) => (name === 'authorization' ? text : null), 0),
  ],
  [
    'X-Forwarded-For',
    HEAD,
    [PLAIN, ['::ffff:', ''], ['', ', 127.0.0.1']],
    (text) => {
      const incoming = { socket: { remoteAddress: '127.0.0.1' }, headers: { 'x-forwarded-for': text } };
      return callerOf({ incoming: incoming as unknown as IncomingMessage } as never, proxyList(['127.0.0.1']));
    },
  ],
  [
    'path in the log',
    HEAD,
    [
      ['/', ''],
      ['/p/', '@'],
      ['/api/v1/subscribers/', ''],
    ],
    withoutSecrets,
  ],
  ['payment', HEAD, [PLAIN], (text) => [decodePayment(text, 1), decodePayment(text, 2)]],
  ['cursor', HEAD, [PLAIN], (text) => readCursor(z.tuple([z.string()]), text)],
  [
    'cursor of JSON',
    HEAD,
    [['["', '"]']],
    (text) => readCursor(z.tuple([z.string()]), Buffer.from(text).toString('base64url')),
  ],
  ['values for the search', BODY, [PLAIN, ['v=spf1 ', ' -all'], ['2001:', '::']], valueWords],
  ['searches in values', BODY, [PLAIN, ['192.', ''], ['2001:', '::']], valueMatch],
  [
    // Of an archive of another system. What is nested too deep is refused.
    'HTML',
    BODY,
    [PLAIN, ['<p>', ''], ['<ul><li>', ''], ['<table><tr><td>', ''], ['<a href="', '">x</a>'], ['<pre>', '']],
    (html) => refusable(() => markdownOf(tidyHtml(html, { base: null, isAutop: true }).html, () => null)),
  ],
  [
    'shortcodes and templates',
    BODY,
    [PLAIN, ['[', ']'], ['{{< x ', '>}}'], ['{% x ', '%}'], ['{{ ', '}}']],
    (text) => [
      replaced(text, '[', ']', (inner) => String(attributesOf(inner).size)),
      plainTemplates(text, 'hugo', []),
      plainTemplates(text, 'liquid', []),
    ],
  ],
  [
    'head of a linked page',
    BODY,
    [PLAIN, ['<title>', ''], ['<meta property="og:title" content="', '">'], ['<meta ', ''], ['<b>', '']],
    (text) => linkedPage(pageHead(utf8(text), null)),
  ],
  ['CSV', BODY, [PLAIN, ['"', '"'], ['a,b\n"', '']], (text) => refusable(() => csvRows(text, 'posts.csv'))],
  [
    'front matter of a site',
    BODY,
    [
      ['---\n', '\n---\n'],
      ['+++\n', '\n+++\n'],
    ],
    (text) => refusable(() => frontMatter(text)),
  ],
  ['earlier address', BODY, [PLAIN, ['/', '']], (text) => aliasFormProblem(aliasFrom(text))],
  ['hostname', BODY, [PLAIN, ['a.', '.example'], ['[', ']']], parseHostname],
  ['mail address', BODY, [PLAIN, ['', '@example.org'], ['a@', '.org']], readAddress],
  ['search', HEAD, [PLAIN], searchTerms],
  ['SQL of the operator', BODY, [PLAIN, ['SELECT 1', ';'], ["'", ''], ['/*', '']], requireOneStatement],
  ['JSON', BODY, [PLAIN, ['["', '"]'], ['{"a":"\\\\', '"}'], ['[', ']']], (text) => parseJson(utf8(text))],
  [
    'filing of a wrong shape',
    BODY,
    [
      ['{"prose":"', '"}'],
      ['{"cited_facts":[', 'null]}'],
      ['{"image":{"', '":1}}'],
    ],
    (text) => {
      const value = json(text);
      const { error } = FilingBody.safeParse(value);
      return error && shapeProblems(error, value);
    },
  ],
  [
    'settings of a paper',
    4 * BODY,
    [
      ['{"nameplate":"A","sections":["A"],"url":"http://a', 'x"}'],
      ['{"nameplate":"A","sections":["A"],"contact":"', '@a.example"}'],
      ['{"nameplate":"A","sections":["', '"]}'],
    ],
    (text) => PaperBody.safeParse(json(text)),
  ],
  [
    'prose',
    BODY,
    [PLAIN, ['x ', ''], ['| a | b |\n|---|---|\n', '']],
    (prose) => filingProblems(filing('slow', { prose }), rules),
  ],
  [
    'prose with the subscribe form and links',
    BODY,
    [PLAIN, ['::subscribe\n', ''], ['https://a.example/', ''], ['<https://a.example/', '>']],
    (prose) => [withoutBoxes(prose), proseHtml(prose, [], (path) => path, { cardOf: () => null, hasBox: true })],
  ],
  ['words', BODY, [PLAIN, ['x](', '']], (prose) => [wordCount(prose, 'en'), wordCount(prose, 'ja')]],
  [
    'headline',
    BODY,
    [PLAIN],
    (headline) => [asciiWords(headline), filingProblems(filing('slow', { headline }), rules)],
  ],
  [
    // Of a folder of one's own. The library compares each key of a map with all that came before it.
    'front matter',
    8 * KIB,
    [['---\n', '\n---\n'], PLAIN],
    (text) => {
      const path = join(folder, 'story.md');
      writeFileSync(path, text);
      return readSource(path, 'story.md', 'markdown');
    },
  ],
  [
    'SVG',
    BODY,
    [
      PLAIN,
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">', '</svg>'],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="', '"/>'],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><style>', '</style></svg>'],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><style>.a { fill: var(--a, ', ') }</style></svg>'],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g style="--a: ', '"/></svg>'],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g fill="url(#a) ', '"/></svg>'],
      ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><use href="data:image/png;base64,', '"/></svg>'],
    ],
    inspectSvg,
  ],
  [
    'captions',
    BODY,
    [PLAIN, ['WEBVTT\n\n00:00.000 --> 00:01.000\n', ''], ['WEBVTT\n\n00:00.000 --> 00:01.000\n<v ', '>']],
    transcriptOf,
  ],
  ['page for a monitor', 8 * BODY, [PLAIN, ['<style>', ''], ['<!--', '-->']], letters],
  ['note', BODY, [PLAIN, ['a\n\n', '\n'], ['a\n\n— a ', '\n']], parseNote],
  ['key', BODY, [PLAIN, ['a+', ''], ['a+00000000+', '']], splitVkey],
  ['receipt of a look', BODY, [PLAIN, ['domain-observation/v1\ndomain ', '\n']], parseObservation],
  ['disclosure', BODY, [PLAIN, ['["', '","a","b"]']], parseDisclosure],
  [
    'proof',
    BODY,
    [
      ['{"receipt":"', '"}'],
      ['{"chain":[', '1]}'],
    ],
    (text) => proofFaults(json(text), verifyNode),
  ],
  [
    'document of the records',
    BODY,
    [
      ['{"evidence":"domain-evidence/v1","records":[', '1]}'],
      ['{"evidence":"domain-evidence/v1","domain":"', '"}'],
      ['{"preview":true,"a":', '1}'],
      ['<svg><title>', '</title><metadata>domain-observation/v1\n</metadata></svg>'],
      ['<svg><metadata>domain-observation/v1\n', '</metadata></svg>'],
    ],
    (text) => {
      const document = documentIn(text);
      return document === null ? [] : documentFaults(document, [], verifyNode);
    },
  ],
  ['alternative names of a certificate', BODY, [PLAIN, ['DNS:', ''], ['DNS:"', '"'], ['', ', DNS:']], hostsIn],
  [
    'answer of a mail server',
    BODY,
    [PLAIN, ['550 ', '']],
    (reply) => faultOf({ code: 'EENVELOPE', command: 'RCPT TO', reply, enhanced: reply } as never),
  ],
];

/** The time that a refusal takes counts as well. */
function refusable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** Every shape in `.ci/wide`; on a push one of so many, in each turn others. */
const ONE_OF = 8;
let turn = 0;
function someShapes(): string[] {
  turn++;
  return SHAPES.filter((_, n) => ONLY_WIDE === false || (n + turn) % ONE_OF === 0);
}

for (const [name, longest, frames, read] of READERS) {
  test(`${name}: time grows with the input`, async () => {
    for (const frame of frames) {
      for (const shape of someShapes()) {
        await assertLinear(
          `${name} ${JSON.stringify(shape)} in ${JSON.stringify(frame)}`,
          repeated(shape, frame),
          read as (input: never) => unknown,
          { longest },
        );
      }
    }
  });
}

test('accepted prose is rendered and indexed in linear time', async () => {
  for (const shape of someShapes()) {
    const prose = repeated(shape, PLAIN);
    const longest = [BODY, BODY / 2, BODY / 4].find((length) => parseProse(prose(length)).excess.length === 0);
    if (longest === undefined) continue;
    const facts = filing('slow').cited_facts;
    const insets = { cardOf: () => null, hasBox: true };
    const render = (text: string) => proseHtml(text, facts, (path) => path, insets);
    await assertLinear(`rendering ${JSON.stringify(shape)}`, prose, render, { longest });
    const index = (text: string) => indexText('paper', { headline: text, dek: text, prose: text });
    await assertLinear(`indexing ${JSON.stringify(shape)}`, prose, index, { longest });
  }
});
