import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { privateFile } from '../../api/desk/files/pressed-file.ts';
import { sitesOf } from '../../api/desk/site.ts';
import type { DeskEnv } from '../../api/env.ts';
import type { Build } from '../../src/desk/press/build.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { enterPapers } from '../support/small-papers.ts';

test('private and missing papers cost the same number of key lookups', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'the-open' },
    { slug: 'quiet-paper', isPublic: false },
    { slug: 'quiet-own', isPublic: false, url: 'http://quiet-own.example' },
  ]);
  const app = appContextIn(t, folder, { now: Date.now() });
  let looks = 0;
  const byHash = (hash: string) => {
    looks++;
    return app.store.desk.keys.byHash(hash);
  };
  const counted = {
    ...app,
    store: { ...app.store, desk: { ...app.store.desk, keys: { ...app.store.desk.keys, byHash } } },
  };
  const sites = sitesOf(counted);
  const router = new Hono<DeskEnv>({ getPath: sites.routingPath });
  router.get('/*', privateFile(counted, sites, null as unknown as Build));
  const looksFor = async (address: string, key = '') => {
    looks = 0;
    const { status } = await router.request(address, { headers: { 'x-nrf-key': key } }, { incoming: {} });
    return { status, looks };
  };
  const stranger = keys.get('the-open')?.admin;
  for (const path of ['/', '/rss.xml', '/api/v1/stories', '/stories/high-water/']) {
    for (const [hidden, absent] of [
      [`${app.settings.origin}/quiet-paper`, `${app.settings.origin}/never-there`],
      ['http://quiet-own.example', 'http://never-own.example'],
    ]) {
      const found = await looksFor(hidden + path, stranger);
      assert.ok(found.looks > 0 && found.status === 404);
      assert.deepEqual(found, await looksFor(absent + path, stranger), hidden + path);
    }
  }
});
