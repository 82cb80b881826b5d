import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrieRouter } from 'hono/router/trie-router';
import { CachedRouter } from '../../api/cached-router.ts';
import { HOST_ROUTES, PAPER_ROUTES, routingPath } from '../../api/desk/routes.ts';
import { collectGarbage } from '../support/app-context.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

test('asked again and again, for whatever address, it finds what the router without a memory finds', () => {
  const [cached, plain] = [new CachedRouter<string>(), new TrieRouter<string>()];
  for (const router of [cached, plain]) {
    router.add('ALL', '/*', 'everything');
    for (const [method, path, , name] of PAPER_ROUTES) router.add(method, routingPath(`/{paper}${path}`), name);
    for (const [method, path, , name] of HOST_ROUTES) router.add(method, routingPath(path), name);
  }
  const paths = PAPER_ROUTES.flatMap(([, path]) =>
    ['tide', 'ebb', 'log'].flatMap((paper) => [`/${paper}${path}`, `/${paper}${path.replace(/\{\w+\}/, paper)}`]),
  );
  const addresses = [
    ...paths,
    '/',
    '/ready',
    '/tide',
    '/tide/a/b',
    '/log/x',
    '/constructor',
    `/tide/${'é'.repeat(300)}`,
  ];
  for (let round = 0; round < 2; round++) {
    for (const path of addresses) {
      for (const method of METHODS) {
        assert.deepEqual(cached.match(method, path), plain.match(method, path), `${method} ${path}`);
      }
    }
  }
  assert.equal(cached.match('GET', '/tide/api/v1/front'), cached.match('GET', '/tide/api/v1/front'), 'it is kept');
});

test('what it remembers of an address keeps no long query in memory', () => {
  const router = new CachedRouter<string>();
  router.add('GET', '/:paper/stories/:slug', 'story');
  const used = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let n = 0; n < 1_000; n++) {
    // As Node reads it from a connection: in one piece.
    const url = Buffer.from(
      `/a-paper-of-some-name-${n}/stories/a-piece-of-some-name-${n}?${'q'.repeat(15_000)}`,
    ).toString();
    router.match('GET', url.slice(0, url.indexOf('?')));
  }
  assert.ok(used() - before < 4_000_000, 'a part of a string keeps all of it');
  assert.equal(router.match('GET', '/tide/stories/ebb')[0].length, 1);
});
