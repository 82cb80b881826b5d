import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { repetitionFault } from './repetition.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('a repetition that can be slow is known by its form', () => {
  for (const slow of [
    '(a+)+$',
    '^(?:a|a)*b*a+$',
    '\\s+$',
    '[^/]*@[^/]*',
    'x*x*$',
    '\\[[^\\]]*\\]',
    '(?:\\w+\\s?)*$',
    '^(.*)/(.*)$',
  ]) {
    assert.notEqual(repetitionFault(slow, ''), null, slow);
  }
  for (const quick of [
    '^[a-z]+(?:-[a-z]+)*$',
    '^\\s+',
    '\\s+',
    '"[^"\\n]{0,9}"',
    '^a*b*c*$',
    'url\\(\\s*["\']?([^)]*)',
    '^[^/]*/[0-9]+$',
  ]) {
    assert.equal(repetitionFault(quick, ''), null, quick);
  }
});

/** The literals of regular expressions in a file of the program. */
function expressionsIn(path: string): { where: string; source: string; flags: string }[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found: ReturnType<typeof expressionsIn> = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      found.push({ where: `${path}:${line}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const SHORT = 'what it reads is short, and made by the program';
const OWN = 'it reads what the operator has set or written, and no stranger';
const FED = 'texts.test.ts feeds its reader with hostile text';

/** Those that the form names and that are quick for what they read, and why. */
const JUSTIFIED = new Map<string, string>([
  [String.raw`[^\n]*\n|[^\n]+$`, 'one line after the other: only the last has no end, and is read twice'],
  [String.raw`<script\b[^>]*>[^<]*<\/script>`, 'it reads a preview that was just printed, where each script is closed'],
  [
    String.raw`(?:_astro|icons|media|pictures|portraits)\/|[\w-]+\.(?:css|svg|ico|png|webmanifest)["\s]`,
    'it is tried behind the URL of the paper alone, once for each',
  ],
  [String.raw`\/+$`, 'it reads addresses that the operator has set, or of 2,048 characters at the most'],
  [String.raw`;.*$`, SHORT],
  [String.raw`<a class="skip"[^>]*>[^<]*<\/a>|<body[^>]*>(?!\s*<a class="skip")`, OWN],
  [String.raw`^([^/]+)\/stories\/(?:.*\/)?([^/]+?)(?:\.\d+)?\.md$`, OWN],
  [String.raw`\s*<lastBuildDate>[^<]*<\/lastBuildDate>`, 'a feed has it at its head, after blanks of our own'],
  [String.raw`\{\s+("[A-Z_]+": \d+(?:,\s+"[A-Z_]+": \d+)*)\s+\}`, SHORT],
  [String.raw`%.*$`, FED],
  [String.raw`(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])`, FED],
  [String.raw`\[.*$`, SHORT],
  [String.raw`^---[ \t]*\n([\s\S]*?)^---[ \t]*(?:\n|$)([\s\S]*)$`, OWN],
  [String.raw`(?:^|, )DNS:("(?:[^"\\]|\\.)*"|[^,"]*)`, FED],
  [String.raw`^(?:ERR_TLS_.*|ERR_SSL_.*|CERT_.*|.*_CERT.*|UNABLE_TO_.*|EPROTO|HOSTNAME_MISMATCH)$`, SHORT],
  [
    String.raw`'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|${'`'}(?:[^${'`'}]|${'``'})*(?:${'`'}|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;`,
    FED,
  ],
  [String.raw`[\p{P}\p{Z}]+$`, 'a line of a share card is short'],
  [
    String.raw`<script\b[^>]*>([\s\S]*?)<\/script>`,
    'it reads pages that were just printed, where each script is closed',
  ],
  [
    String.raw`([a-z][a-z0-9:-]*)\s*=\s*"([^"]*)"`,
    'it reads attributes as our own renderer writes them, each taken whole',
  ],
  [String.raw`0+$`, SHORT],
  [String.raw`=+$`, SHORT],
  [String.raw`\((.*)\) \S (\d+)`, SHORT],
  [String.raw`^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)`, FED],
  [String.raw`^(.*?)(?:\.([2-9]|[1-9]\d+))?$`, 'a file has a short name'],
]);

test('no regular expression backtracks without a bound, with these exceptions', () => {
  const all = globSync('{src,api}/**/*.ts', { cwd: ROOT }).flatMap(expressionsIn);
  assert(all.length > 100, 'they are found');
  const named = all.filter(({ source, flags }) => repetitionFault(source, flags) !== null);
  const unknown = named.filter(({ source }) => !JUSTIFIED.has(source));
  assert.deepEqual(
    unknown.map(({ where, source }) => `${where}: /${source}/`),
    [],
    'bound the repetition, anchor it, or say in JUSTIFIED why it is quick for what it reads',
  );
  const there = new Set(named.map(({ source }) => source));
  assert.deepEqual(
    [...JUSTIFIED.keys()].filter((source) => !there.has(source)),
    [],
    'these are gone: take them out',
  );
});
