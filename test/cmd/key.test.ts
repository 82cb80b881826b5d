import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isKey } from '../../src/desk/papers/keys.ts';
import { DAY } from '../../src/proof/time.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

test('a key is shown once, stored as a hash, listed and revoked', async (t) => {
  const folder = tempFolder(t);
  createPaper(appContextIn(t, folder, { now: Date.now() }));
  const paper = ['--paper', PAPER];
  const made = await run(t, folder, ['key', 'create', ...paper, '--level', 'agent', '--name', 'Zoë’s agent', '--json']);
  const { id, key, level } = JSON.parse(made.stdout) as { id: string; key: string; level: string };
  assert.match(key, /^nrf_[0-9A-Za-z]{43}$/);
  assert(isKey(key));
  assert.equal(level, 'agent');

  const files = ['broadsheet.db', 'broadsheet.db-wal']
    .map((name) => join(folder, 'var', name))
    .filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file, 'latin1')).join('');
  assert.equal(bytes.includes(key), false, 'the key is in the database');
  assert(bytes.includes(createHash('sha256').update(key).digest('hex')), 'its hash is');

  assert.match(
    (await run(t, folder, ['key', 'list', ...paper])).stdout,
    new RegExp(`^${id} {2}agent {2}Zoë’s agent\n$`),
  );
  const [row] = JSON.parse((await run(t, folder, ['key', 'list', ...paper, '--json'])).stdout);
  const { made_at, ...rest } = row;
  assert.match(made_at, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/, 'a row as the door lists it');
  const nobody = {
    ...{ seat: null, used_at: null, revoked_at: null, revoked_by: null, expires_at: null },
    ...{ paused_at: null, paused_by: null, work: { filed: 0, refused: 0, last_at: null } },
  };
  const life = { state: 'in_force', made_by: 'cli', uses: { days: 0, first_day: null, last_day: null } };
  assert.deepEqual(rest, { id, level: 'agent', name: 'Zoë’s agent', persona: null, ...nobody, ...life });
  assert.equal((await run(t, folder, ['key', 'revoke', id, ...paper])).stdout, `revoked ${id}\n`);
  assert.match((await run(t, folder, ['key', 'list', ...paper])).stdout, /\(revoked\)\n$/);
  const again = await run(t, folder, ['key', 'revoke', id, ...paper]);
  assert.match(
    again.stderr,
    /has no key "\S+" in force; `npm run -s broadsheet -- key list --paper harbor-ledger` lists its keys/,
  );
  assert.equal(again.code, 1);
  const log = (await run(t, folder, ['key', 'log', id, ...paper])).stdout;
  assert.match(log, /^\S+Z {2}made by cli\n\S+Z {2}revoked by cli\n$/);
  const elsewhere = await run(t, folder, ['key', 'log', 'none', ...paper]);
  assert.match(
    elsewhere.stderr,
    /has no key "none"; `npm run -s broadsheet -- key list --paper [a-z-]+` lists its keys/,
  );
  await run(t, folder, ['ledger', 'export', join(folder, 'e.jsonl')]);
  assert.equal(readFileSync(join(folder, 'e.jsonl'), 'utf8').includes('Zoë'), false, 'access keys do not travel');
});

test('what makes no key is one line', async (t) => {
  const folder = tempFolder(t);
  createPaper(appContextIn(t, folder, { now: Date.now() }));
  const create = ['key', 'create', '--level', 'read', '--name', 'N', '--paper'];
  const cases: [args: string[], said: RegExp][] = [
    [[...create, 'none'], /^broadsheet: there is no paper "none"; there are [a-z-]+\n$/],
    [
      ['key', 'create', '--paper', PAPER, '--level', 'root', '--name', 'N'],
      /^broadsheet: --level: "root": must be one of read, agent, admin\n$/,
    ],
    [
      ['key', 'create', '--paper', PAPER, '--level', 'read', '--name', 'N', '--expires-at', '2020-01-01'],
      /^broadsheet: --expires-at "2020-01-01" has passed; give a future time with its zone, as in \S+Z, or /,
    ],
    [
      ['key', 'create', '--paper', PAPER, '--level', 'read', '--name', ' '],
      /^broadsheet: --name: " ": must say whose key it is\n$/,
    ],
    [
      ['key', 'create', '--paper', PAPER, '--level', 'read', '--name', 'a\nb'],
      /--name: "a\\nb": must be one line without control characters\n$/,
    ],
    [['key', 'list', '--paper', 'none'], /^broadsheet: there is no paper "none"; there are [a-z-]+\n$/],
    [['air', 'none', '--paper', PAPER], /^broadsheet: the paper harbor-ledger has no piece with the slug "none"\n$/],
    [
      ['air', 'none', '--paper', PAPER, '--at', '1'],
      /^broadsheet: --at "1" is not a time; write it as 2026-11-20T06:30:00Z\n$/,
    ],
    [['air', 'none', '--paper', PAPER, '--at', '2026-02-30T00:00:00Z'], /is not a time/],
    [
      ['withdraw', 'none', '--paper', PAPER, '--reason', ''],
      /^broadsheet: a withdrawal needs a reason of one line, 1 to 1000 characters; readers will see it\n$/,
    ],
    [
      ['withdraw', 'none', '--paper', 'none', '--reason', 'x'],
      /^broadsheet: there is no paper "none"; there are [a-z-]+\n$/,
    ],
  ];
  for (const [args, said] of cases) {
    const { code, stderr } = await run(t, folder, args);
    assert.match(stderr, said, args.join(' '));
    assert.equal(code, 1);
  }
});

test('a rotated key stays listed, and signing continues with the new one', async (t) => {
  const folder = tempFolder(t);
  createPaper(appContextIn(t, folder, { now: Date.now() }));
  const line = (slug: string): string =>
    JSON.stringify({
      slug,
      headline: slug,
      section: 'City',
      published_at: '2019-05-20T00:00:00Z',
      prose: 'Text.',
      cited_facts: [],
    });
  const file = join(folder, 'a.jsonl');
  const importOne = (slug: string) => {
    writeFileSync(file, line(slug));
    return run(t, folder, ['import', file, '--paper', PAPER, '--persona', 'ines-calloway', '--no-press']);
  };
  assert.equal((await importOne('a')).code, 0);
  const first = readFileSync(join(folder, 'var/door.key'), 'utf8');
  const { stdout } = await run(t, folder, ['key', 'rotate', '--json']);
  const { kid, retired } = JSON.parse(stdout) as { kid: string; retired: string[] };
  assert.deepEqual(retired, [(JSON.parse(first) as { kid: string }).kid]);
  assert.equal((await importOne('b')).code, 0);
  await run(t, folder, ['ledger', 'export', join(folder, 'e.jsonl')]);
  const kids = readFileSync(join(folder, 'e.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as { type: string; kid: string })
    .filter(({ type }) => type === 'generation')
    .map((entry) => entry.kid);
  assert.deepEqual(kids, [...retired, kid]);
  assert.match((await run(t, folder, ['audit'])).stdout, /^2 generations, \d+ leaves and \d+ files audited/m);
});

test('a seat is a person’s key: given once, listed, and removed with its key', async (t) => {
  const folder = tempFolder(t);
  createPaper(appContextIn(t, folder, { now: Date.now() }));
  const seat = (...args: string[]) => run(t, folder, ['seat', ...args, '--paper', PAPER]);
  const ana = ['--email', 'Ana@Example.org'];
  const added = await seat('add', ...ana, '--level', 'admin', '--json');
  const { id, key, level } = JSON.parse(added.stdout) as { id: string; key: string; level: string };
  assert(isKey(key));
  assert.equal(level, 'admin');
  assert.equal((await seat('list')).stdout, `${id}  admin  ana@example.org\n`);
  const [row] = JSON.parse((await seat('list', '--json')).stdout);
  assert.deepEqual([row.seat, new Date(row.made_at).toISOString()], ['ana@example.org', row.made_at]);
  const twice = await seat('add', ...ana, '--level', 'read');
  assert.match(twice.stderr, /^broadsheet: ana@example\.org has a seat already \(key \S+\); revoke it/);
  const removed = await seat('remove', ...ana);
  assert.equal(removed.stdout, `ana@example.org no longer has a seat on ${PAPER}; key ${id} is revoked\n`);
  assert.equal((await seat('list')).stdout, 'no seats\n');
  assert.match((await seat('remove', ...ana)).stderr, /^broadsheet: Ana@Example\.org has no seat on/);
  assert.equal((await seat('add', ...ana, '--level', 'read')).code, 0, 'a seat that was taken away may be given again');
  const cases: [args: string[], said: RegExp][] = [
    [['--email', 'nobody', '--level', 'read'], /^broadsheet: --email: "nobody": must be the mail address/],
    [['--email', 'a@b.example', '--level', 'agent'], /^broadsheet: seat: seats are for people/],
    [
      ['--email', 'a@b.example', '--level', 'read', '--expires-at', '2020-01-01'],
      /^broadsheet: --expires-at "2020-01-01" has passed; give a future time/,
    ],
  ];
  for (const [args, said] of cases) assert.match((await seat('add', ...args)).stderr, said);
});

test('a seat may expire', async (t) => {
  const folder = tempFolder(t);
  createPaper(appContextIn(t, folder, { now: Date.now() }));
  const seat = (...args: string[]) => run(t, folder, ['seat', ...args, '--paper', PAPER]);
  const until = new Date(Date.now() + 30 * DAY).toISOString();
  const added = await seat('add', '--email', 'bo@example.org', '--level', 'read', '--expires-at', until);
  assert.match(added.stdout, new RegExp(`^nrf_\\w{43}\nread seat of bo@example\\.org .*, until ${until}; it is not`));
  assert.match((await seat('list')).stdout, new RegExp(`^\\S+  read   bo@example\\.org  until ${until}\n$`));
});
