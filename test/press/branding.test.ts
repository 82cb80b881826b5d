import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AppContext } from '../../src/app/context.ts';
import { pressPapers } from '../../src/app/press-run.ts';
import { append } from '../../src/desk/append.ts';
import { PageBody } from '../../src/desk/page.ts';
import { PaperBody } from '../../src/desk/paper.ts';
import { PAPER } from '../support/app-context.ts';
import { paperOf } from '../support/pressed-paper.ts';

/** Pages of different kinds, whose footers and heads are the same. */
const PAGES = ['index.html', 'stories/piece-0/index.html', 'search/index.html', '404.html'];

async function change({ store, now }: AppContext, more: object): Promise<void> {
  const body = PaperBody.parse({ ...(store.record(PAPER, 'paper', '') as object), ...more });
  store.transact(() => append(store, { type: 'record', at: now(), paper: PAPER, kind: 'paper', name: '', body }));
}

test('every page has the contact and the imprint in its footer', async (t) => {
  const { app, tree } = await paperOf(t, 1);
  const footers = async () => {
    await pressPapers(app, { cards: false });
    return PAGES.map((path) => /<footer[\s\S]*<\/footer>/.exec(readFileSync(join(tree, path), 'utf8'))?.[0] ?? '');
  };
  await change(app, { contact: 'desk@quay.example', imprint: 'Quay Press <Ltd>\nQuay Street 1' });
  for (const footer of await footers()) {
    assert.match(footer, /<a href="mailto:desk@quay\.example">desk@quay\.example<\/a>/);
    assert.match(footer, /Quay Press &lt;Ltd&gt;\s*<br>\s*Quay Street 1/);
  }
  await change(app, { contact: 'https://quay.example/write', imprint: 'pages/imprint.md' });
  for (const footer of await footers()) {
    assert.match(footer, /<a href="https:\/\/quay\.example\/write">Contact<\/a>/);
    assert.doesNotMatch(footer, /imprint\//, 'there is no such page yet');
  }
  assert.match(
    readFileSync(join(tree, '.well-known/security.txt'), 'utf8'),
    /^Contact: https:\/\/quay\.example\/write$/m,
  );
  const body = PageBody.parse({ title: 'Impressum', nav: 'none', language: 'de', prose: 'Quay Street 1.' });
  const page = { type: 'record', at: app.now(), paper: PAPER, kind: 'page', name: 'imprint', body } as const;
  app.store.transact(() => append(app.store, page));
  for (const footer of await footers())
    assert.match(footer, /<a href="\/harbor-ledger\/imprint\/" lang="de" dir="ltr">Impressum<\/a>/);
});

test('a contact is a mail address or an https address', () => {
  const paper = { nameplate: 'The Quay', sections: ['City'] };
  for (const contact of ['nobody', 'http://quay.example/', 'javascript:alert(1)', 'ftp://quay.example/'])
    assert.match(PaperBody.safeParse({ ...paper, contact }).error?.issues[0]?.message ?? '', /must be a mail address/);
});
