import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { appContextIn, tempFolder, treeOf } from '../support/app-context.ts';
import { deskRoutes } from '../support/desk-routes.ts';
import { run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

const PAPER = 'of-privacy';
/** In the headline, the dek, the text and the slug of the piece, and nowhere else. */
const TOLD = /quokka/i;
const PIECE = {
  slug: 'quokka-verdict',
  headline: 'The Quokka Verdict',
  dek: 'A quokka was named.',
  category: 'Tides',
  byline: 'vera-holm',
  prose: 'One quokka.[^1] Two.[^2]',
  cited_facts: [
    { statement: 'One quokka.', source: 'NIST', instrument: 'FIPS 180-4' },
    { statement: 'Two.', source: 'IETF', instrument: 'RFC 2119' },
  ],
  tags: ['Quokkas'],
  air: true,
};

test('a withheld headline appears in no file and no answer', async (t) => {
  const folder = tempFolder(t);
  const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER);
  assert.ok(keys);
  const { url, stop } = await serveHere(t, folder, {});
  const api = `${url}/${PAPER}/api/v1`;
  const call = async (method: string, path: string, body?: object, key: string | null = keys.admin, name = '') => {
    const answer = await fetch(path.startsWith('http') ? path : `${api}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        Accept: 'application/json',
        ...(key && { Authorization: `Bearer ${key}` }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...(name && { 'Idempotency-Key': name }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const filing = () => call('POST', '/stories', PIECE, keys.admin, 'filing');
  const first = await filing();
  const filed = JSON.parse(first.text).story;
  assert.deepEqual(await filing(), first);
  const { id } = filed;
  await call('PUT', `/stories/${id}`, { ...PIECE, air: undefined, revision: 1, correction: 'One was two.' });
  const tree = () => treeOf(join(folder, 'papers', PAPER));
  const telling = () =>
    [...tree()].filter(([path, bytes]) => TOLD.test(path) || TOLD.test(bytes)).map(([path]) => path);
  assert.ok(telling().length > 10);

  const refusals: [object, number, string | undefined][] = [
    [{ reason: 'It told THE QUOKKA  VERDICT.', withhold_headline: true }, 400, 'reason'],
    [{ reason: 'The law.', withhold_headline: 'yes' }, 400, 'withhold_headline'],
  ];
  for (const [body, status, field] of refusals) {
    const refused = await call('DELETE', `/stories/${id}/airing`, body);
    assert.deepEqual([refused.status, JSON.parse(refused.text).field], [status, field]);
  }
  const draft = JSON.parse(
    (await call('POST', '/stories', { ...PIECE, slug: 'a-draft', headline: 'A', air: '2999-01-01T00:00:00Z' })).text,
  ).story;
  const never = await call('DELETE', `/stories/${draft.id}/airing`, { reason: 'No.', withhold_headline: true });
  assert.deepEqual([never.status, JSON.parse(never.text).field], [409, 'withhold_headline']);
  assert.equal((await call('DELETE', `/stories/${draft.id}/airing`, { reason: 'No.' })).status, 200);
  await call('PUT', `/stories/${draft.id}`, {
    ...{
      ...PIECE,
      ...{ slug: 'a-draft', headline: 'A draft', dek: '', prose: 'One.[^1] Two.[^2]', tags: [], air: false },
    },
    ...{ revision: 1, cited_facts: PIECE.cited_facts.map((fact) => ({ ...fact, statement: 'It is so.' })) },
  });

  // Withdrawn first as any other piece, its headline withheld later.
  const withdrawal = () =>
    call('DELETE', `/stories/${id}/airing`, { reason: 'A court said so.' }, keys.admin, 'withdrawal');
  const withdrawn = await withdrawal();
  assert.equal(withdrawn.status, 200);
  assert.deepEqual([await withdrawal(), await filing()], [withdrawn, first]);
  assert.ok(telling().includes('stories/quokka-verdict/index.html'));
  assert.match(tree().get('corrections/index.html') ?? '', TOLD);
  const withheld = await call('DELETE', `/stories/${id}/airing`, {
    reason: 'A court said so.',
    withhold_headline: true,
  });
  const { story } = JSON.parse(withheld.text);
  assert.deepEqual(
    [withheld.status, story.headline, story.prose, story.state, story.headline_withheld, story.reason],
    [200, 'A piece was withdrawn', '', 'withdrawn', true, 'A court said so.'],
  );
  assert.equal(
    (await call('DELETE', `/stories/${id}/airing`, { reason: 'Again.', withhold_headline: true })).status,
    409,
  );

  // The address stays, and nothing else has it: the notice and the cards name no more than themselves.
  const own = ['stories/quokka-verdict/index.html', 'embed/quokka-verdict/index.html', `embed/${id}/index.html`];
  assert.deepEqual(telling().sort(), own.sort());
  for (const path of own) {
    const text = (tree().get(path) ?? '').replaceAll('quokka-verdict', '');
    assert.doesNotMatch(text, TOLD, path);
    assert.match(text, /A piece was withdrawn/);
  }
  assert.match(tree().get('corrections/index.html') ?? '', /A piece was withdrawn.*A court said so\./s);
  assert.match(tree().get('index.html') ?? '', /A piece was withdrawn/);

  const routes = (await deskRoutes(appContextIn(t, tempFolder(t), { now: Date.now() })))
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/:paper/') && !/\/log\/|\*/.test(path))
    .map(({ path }) => path.replace('/:paper', ''));
  const paths = routes.flatMap((path) =>
    [id, 'quokka-verdict'].map((name) =>
      path.replace(':id', name).replace(':day', filed.published_at.slice(0, 10)).replace(/:\w+/g, 'vera-holm'),
    ),
  );
  assert(paths.includes(`/api/v1/stories/${id}/proof`));
  const asked = `oembed?url=${encodeURIComponent(filed.url)}`;
  for (const path of [...new Set(paths), '/api/v1/search?q=quokka', '/api/v1/stories?tag=quokkas', `/${asked}`]) {
    for (const key of [null, keys.read, keys.agent, keys.admin]) {
      const { text } = await call('GET', `${url}/${PAPER}${path}`, undefined, key);
      // A desk names its own piece by its slug, and an error the address that was asked for.
      const said = text.replaceAll('quokka-verdict', '').replaceAll('"q":"quokka"', '').replaceAll('"quokkas"', '');
      assert.doesNotMatch(said, TOLD, `${path} says ${said.slice(0, 400)}`);
    }
  }
  for (const path of [`/stories/${id}`, `/stories/${id}/proof`, '/stories/quokka-verdict/proof']) {
    const { status, text } = await call('GET', path);
    assert.deepEqual([status, JSON.parse(text).reason], [410, 'A court said so.'], path);
  }
  // Neither does a repeated request tell it: that of the filing, whose answer had a proof, nor that of the withdrawal.
  const repeated = await filing();
  assert.deepEqual([repeated.status, JSON.parse(repeated.text).reason], [410, 'A court said so.']);
  assert.deepEqual(JSON.parse((await withdrawal()).text), { ...JSON.parse(withdrawn.text), story });
  await stop();
  const audit = await run(t, folder, ['audit']);
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);

  // On air again, the piece has its headline again.
  const again = await run(t, folder, ['air', 'quokka-verdict', '--paper', PAPER]);
  assert.equal(again.code, 0, again.stderr);
  assert.match(tree().get('index.html') ?? '', TOLD);
  const command = await run(t, folder, [
    'withdraw',
    'quokka-verdict',
    '--paper',
    PAPER,
    '--reason',
    'Law.',
    '--withhold-headline',
  ]);
  assert.match(command.stdout, /quokka-verdict is withdrawn, and its headline is withheld/);
  assert.deepEqual(telling().sort(), own.sort());
});
