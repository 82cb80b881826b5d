import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

test('a desk files authors and tags by the API, and readers find the pieces of a tag', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'of-tags' }]);
  const { url } = await serveHere(t, folder, {});
  const api = `${url}/of-tags/api/v1`;
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${api}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(body && { Authorization: `Bearer ${keys.get('of-tags')?.admin}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, link: answer.headers.get('Link'), body: await answer.json() };
  };
  const piece = (slug: string, more: object) => ({
    slug,
    headline: `About ${slug}`,
    dek: 'A dek.',
    category: 'Tides',
    byline: 'vera-holm',
    prose: 'One.[^1] Two.[^2]',
    cited_facts: [
      { statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4' },
      { statement: 'Two.', source: 'IETF', instrument: 'RFC 2119' },
    ],
    air: true,
    ...more,
  });

  const wrong = await call(
    '/stories',
    piece('wrong', { tags: ['x'.repeat(41), ' ', 'a\u0007b'], written_by: 'Ann\nLee' }),
  );
  assert.equal(wrong.status, 422);
  assert.deepEqual(
    wrong.body.problems.map(({ field, rule }: { field: string; rule: string }) => `${field} ${rule}`),
    ['written_by control_character', 'tags[0] too_long', 'tags[1] required', 'tags[2] control_character'],
  );
  for (const [authors, more, problem] of [
    [[' ', 'Ann\u0007'], {}, 'authors[0].name required, authors[1].name control_character'],
    [[{ name: 'Ann', url: 'http://ann.example/' }], {}, 'authors[0].url unsafe_link'],
    [[{ name: 'Ann', url: 'https://u:p@ann.example/' }], {}, 'authors[0].url unsafe_link'],
    [[{ name: 'Ann', url: 'https://ann.example/\u0000' }], {}, 'authors[0].url control_character'],
    [Array.from({ length: 21 }, (_, n) => `Ann ${n}`), {}, 'authors too_many'],
    [['x'.repeat(301)], {}, 'authors[0].name too_long'],
    [['Ann'], { written_by: 'Ann' }, 'written_by authors_twice'],
  ] as const) {
    const { status, body } = await call('/stories', piece('wrong', { authors, ...more }));
    const problems = body.problems.map(({ field, rule }: Record<string, string>) => `${field} ${rule}`).join(', ');
    assert.deepEqual([status, problems], [422, problem]);
  }
  const odd = await call('/stories', piece('wrong', { authors: [{ url: 'https://ann.example/' }] }));
  assert.deepEqual([odd.status, odd.body.field], [400, 'authors[0]']);
  assert.match(odd.body.message, /must be a name, or a name with an address/);
  const many = await call('/stories', piece('many', { tags: Array.from({ length: 11 }, (_, n) => `tag ${n}`) }));
  assert.match(many.body.problems[0].message, /^11 tags are more than 10; /);

  const one = await call(
    '/stories',
    piece('one', {
      tags: ['Open Data', 'open data', 'Tides'],
      authors: [' Ann Lee ', { name: 'Zoe\u0308', url: 'https://zoe.example/' }],
    }),
  );
  assert.equal(one.status, 201);
  const authors = [{ name: 'Ann Lee' }, { name: 'Zoë', url: 'https://zoe.example/' }];
  assert.deepEqual(one.body.story.authors, authors);
  assert.equal(one.body.story.written_by, 'Ann Lee and Zoë');
  assert.deepEqual(one.body.story.tags, ['Open Data', 'Tides']);
  assert.deepEqual(one.body.proof.basis.authors, authors);
  await call('/stories', piece('two', { tags: ['tides'] }));

  const { body: list } = await call('/tags');
  assert.deepEqual(list.tags, [
    {
      name: 'tides',
      slug: 'tides',
      count: 2,
      url: `${url}/of-tags/tags/tides/`,
      feed_url: `${url}/of-tags/tags/tides/rss.xml`,
    },
    {
      name: 'Open Data',
      slug: 'open-data',
      count: 1,
      url: `${url}/of-tags/tags/open-data/`,
      feed_url: `${url}/of-tags/tags/open-data/rss.xml`,
    },
  ]);
  for (const { url: page, feed_url } of list.tags) {
    assert.equal((await fetch(page)).status, 200);
    assert.equal((await fetch(feed_url)).headers.get('Content-Type'), 'application/rss+xml; charset=utf-8');
  }
  const first = await call('/stories?tag=Tides&limit=1');
  assert.deepEqual(
    first.body.stories.map(({ slug }: { slug: string }) => slug),
    ['two'],
  );
  assert.match(first.link ?? '', /tag=tides&limit=1&cursor=/);
  const next = await call(`/stories?tag=tides&limit=1&cursor=${first.body.next_cursor}`);
  assert.deepEqual(
    next.body.stories.map(({ slug, authors }: Record<string, unknown>) => [slug, authors]),
    [['one', authors]],
  );
  assert.equal(next.body.next_cursor, null);
  const rest = await call(`/tags?limit=1&cursor=${(await call('/tags?limit=1')).body.next_cursor}`);
  assert.deepEqual(
    rest.body.tags.map(({ slug }: { slug: string }) => slug),
    ['open-data'],
  );
});
