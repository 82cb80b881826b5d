import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { monitor } from '../../../src/operate/audit/monitor/monitor.ts';
import { letters } from '../../../src/operate/audit/monitor/page-text.ts';
import { storyAddresses } from '../../../src/operate/audit/monitor/story-addresses.ts';
import { signerFrom } from '../../../src/proof/ed25519.ts';
import { checkpointText } from '../../../src/proof/log/checkpoint.ts';
import { readPolicy } from '../../../src/proof/log/node-crypto.ts';
import { signNote } from '../../../src/proof/signing.ts';
import { tempFolder } from '../../support/app-context.ts';
import { fileSite } from '../../support/desk-log.ts';
import { LoggedPaper } from '../../support/logged-paper.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const never = () => false;
const listOf = (base: string, from: number, to: number): string => {
  const rows = Array.from({ length: to - from }, (_, at) => `<url><loc>${base}stories/${from + at}/</loc></url>`);
  return `<urlset>${rows.join('\n')}</urlset>`;
};

test('a sitemap lists as many stories as a monitor watches, in a bounded number of files, all on its own host', {
  skip: ONLY_WIDE,
}, async (t) => {
  const site = await fileSite(t);
  const cases: [sitemap: string, count: number, said: RegExp][] = [
    [listOf(site.url, 0, 50_001), 50_000, /^\S+: it lists more than 50000 stories, the most that a monitor watches$/],
    [listOf('http://127.0.0.2:1/', 0, 10), 0, /^$/],
    ['nonsense', 0, /^$/],
    ['<urlset><url><loc>', 0, /^$/],
    [`<sitemapindex><loc>${site.url}a/sitemap.xml</loc></sitemapindex>`, 0, /^$/],
    [
      `<sitemapindex>${Array.from({ length: 2_000 }, (_, at) => `<loc>${site.url}a/s${at}</loc>`).join('')}</sitemapindex>`,
      0,
      /only 1000 of its sitemaps were read$/,
    ],
    [`<urlset>${'x'.repeat(50_000_000)}`, 0, /sitemap\.xml is longer than 50 MB/],
  ];
  for (let at = 0; at < 2_000; at++) site.files.set(`a/s${at}`, '<urlset>');
  for (const [sitemap, count, said] of cases) {
    site.files.set('a/sitemap.xml', sitemap);
    const unchecked: string[] = [];
    assert.equal((await storyAddresses(`${site.url}a/`, unchecked, never)).size, count);
    assert.match(unchecked.join('\n'), said);
  }
  site.files.set('a/sitemap.xml', (response) => {
    response.writeHead(302, { location: `${site.url}a/sitemap.xml` });
    response.end();
  });
  const unchecked: string[] = [];
  await storyAddresses(`${site.url}a`, unchecked, never);
  assert.match(unchecked.join('\n'), /^\S+sitemap\.xml did not answer \(redirect count exceeded\)$/);
});

test('a site that answers with too much, with nothing or with nonsense has not been checked', async (t) => {
  const paper = new LoggedPaper(await fileSite(t));
  const { files } = paper.site;
  paper.log.addKey();
  for (const slug of ['large', 'broken', 'twice', 'sound']) paper.publish(slug);
  paper.publishLog();
  const proof = (slug: string) => `tide-table/stories/${slug}/proof.json`;
  files.set(proof('large'), Buffer.alloc(10_000_001, ' '));
  files.set(proof('broken'), (response) => void response.destroy());
  files.set(proof('twice'), '{"id":1,"id":2}');
  const file = join(tempFolder(t), 'state.json');
  const policy = readPolicy(`log ${paper.log.vkey}\nquorum none\n`);
  const look = () => monitor({ sites: [paper.url], policy, file, now: Date.now });
  const one = await look();
  assert.deepEqual([one.findings, one.pages_read], [[], 1]);
  const said = one.unchecked.join('\n');
  for (const line of [
    /large\/proof\.json is longer than 10 MB/,
    /broken\/proof\.json did not answer/,
    /twice\/proof\.json .*"id"/,
  ]) {
    assert.match(said, line);
  }
  assert.equal(one.unchecked.length, 3);
  const signer = signerFrom('papers.example/log', new Uint8Array(32).fill(3));
  const endless = checkpointText({ origin: signer.name, size: Number.MAX_SAFE_INTEGER, root: new Uint8Array(32) });
  for (const [checkpoint, why] of [
    ['nonsense', /checkpoint: the checkpoint is not a signed note/],
    ['x'.repeat(10_000_000), /checkpoint is longer than 131 kB/],
    [signNote(endless, signer), /tile\/entries\/000 answered 404/],
  ] as const) {
    files.set('log/checkpoint', checkpoint);
    assert.match((await look()).unchecked.join('\n'), why);
  }
});

test('the text of a page is read through any markup', () => {
  assert.equal(
    letters('<p class="a>b">a &amp; b</p><!-- <p>no</p> --><style>x</style><b>é</b>&#233;&#xe9;'),
    'b">a&bééé',
  );
  assert.equal(letters('<script>a</script>b<template>c'), 'b');
});
