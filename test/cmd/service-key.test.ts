import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceKeyOf } from '../../src/records/accounts/service-key.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

const ADA = 'ada@example.org';
const RECORDS = ['--service', 'records'];

test('keys of the domain records are made, listed and revoked', async (t) => {
  const folder = tempFolder(t);
  const key = (...args: string[]) => run(t, folder, ['key', ...args, ...RECORDS]);
  const create = async (...args: string[]) =>
    JSON.parse((await key('create', '--json', '--name', 'N', ...args)).stdout);

  const scanner = await create('--level', 'scanner');
  assert.deepEqual(Object.keys(scanner), ['id', 'key', 'level']);
  const own = await create('--level', 'account', '--email', ' Ada@Example.org ');
  assert.deepEqual([own.level, own.email], ['account', ADA]);
  const alone = await create('--level', 'account');
  assert.match(alone.email, /^[0-9a-z]{26}@account\.invalid$/);

  const { store } = appContextIn(t, folder, { now: Date.now() });
  for (const { id, key: text, level } of [scanner, own, alone]) {
    const found = serviceKeyOf(store.records.serviceKeys, text, Date.now());
    assert.deepEqual([found.id, found.level, found.name], [id, level, 'N']);
  }
  assert.equal(store.records.serviceKeys.list(store.records.accounts.byEmail(ADA)?.id ?? '').length, 1);

  assert.equal((await key('list')).stdout, `${scanner.id}  scanner   N\n`);
  assert.equal((await key('list', '--email', ADA)).stdout, `${own.id}  account   N\n`);
  const [row] = JSON.parse((await key('list', '--json')).stdout);
  assert.match(row.made_at, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  assert.deepEqual(
    Object.keys(row).join(),
    'id,level,name,state,made_at,made_by,expires_at,used_at,uses,revoked_at,revoked_by',
  );
  const brief = await create('--level', 'service', '--expires-at', '2999-12-31');
  assert.match(
    (await key('list')).stdout,
    new RegExp(`${brief.id} {2}service {3}N {2}until 3000-01-01T00:00:00.000Z\n$`),
  );
  assert.match(
    (await key('create', '--name', 'N', '--level', 'service', '--expires-at', 'soon')).stderr,
    /^broadsheet: --expires-at "soon" is not a valid date or time/,
  );
  assert.equal((await key('revoke', own.id)).stdout, `revoked ${own.id}\n`);
  assert.match((await key('list', '--email', ADA)).stdout, /\(revoked\)\n$/);
  assert.match((await key('log', own.id)).stdout, /^\S+Z {2}made by cli\n\S+Z {2}revoked by cli\n$/);
  assert.throws(() => serviceKeyOf(store.records.serviceKeys, own.key, Date.now()), { code: 'key_invalid' });
});

test('credits are added and shown, and a plan is changed', async (t) => {
  const folder = tempFolder(t);
  const made = await run(t, folder, ['key', 'create', ...RECORDS, '--level', 'account', '--name', 'N', '--email', ADA]);
  assert.match(
    made.stdout,
    /^drs_\w{43}\naccount key \S+ of the domain records, metered on the account of ada@example\.org; it is not shown again\n$/,
  );
  const added = await run(t, folder, ['credits', 'add', ADA, '25.5', '--note', 'invoice 114']);
  assert.equal(added.stdout, `top_up of 25.5 credits; ${ADA} has 25.5\n`);
  const taken = await run(t, folder, ['credits', 'add', ADA, '--json', '--', '-0.5']);
  assert.equal(JSON.parse(taken.stdout).balance, 25);
  const shown = (await run(t, folder, ['credits', 'show', ADA])).stdout.split('\n');
  assert.equal(shown[0], `${ADA} has 25 credits`);
  assert.match(shown[1] ?? '', /^\S+Z {2}correction {2}-0\.5 {2}25$/);
  assert.match(shown[2] ?? '', /^\S+Z {2}top_up {6}25\.5 {2}25\.5 {2}invoice 114$/);
  const app = appContextIn(t, folder, { now: Date.now() });
  const { id } = app.store.records.accounts.byEmail(ADA) ?? { id: '' };
  const [key] = app.store.records.serviceKeys.list(id);
  app.store.records.meter.reserve(
    { account: id, key: key?.id ?? '', at: app.clock.now() },
    { daily: 0, perMinute: 99 },
  );
  app.close();
  const drawn = (await run(t, folder, ['credits', 'show', ADA])).stdout.split('\n');
  assert.equal(drawn[0], `${ADA} has 24.95 credits`);
  // Where the day has ended meanwhile it is a line like the others.
  assert.match(drawn[1] ?? '', /^(?:today, so far {11}|\S+Z) {2}draw {8}-0\.05 {2}24\.95 {2}\S+$/);
  const changed = await run(t, folder, ['account', 'set', ADA, '--plan', 'monthly', '--burst', '3', '--json']);
  const { plan, burst, today } = JSON.parse(changed.stdout);
  assert.deepEqual([plan, burst, today.allowance], ['monthly', 3, 3_000]);
});

test('what makes no key and moves no credits is one line', async (t) => {
  const folder = tempFolder(t);
  const create = ['key', 'create', '--name', 'N'];
  const cases: [args: string[], said: RegExp][] = [
    [
      [...create, '--level', 'read'],
      /^broadsheet: say what the key is for: either --paper SLUG or --service records\n$/,
    ],
    [[...create, '--service', 'desk', '--level', 'service'], /^broadsheet: --service: "desk": must be records; /],
    [
      [...create, ...RECORDS, '--level', 'admin'],
      /^broadsheet: --level: "admin": must be one of account, service, scanner, operator\n$/,
    ],
    [[...create, ...RECORDS, '--level', 'account', '--email', 'ada'], /^broadsheet: --email: "ada" is not of the form/],
    [
      ['credits', 'add', ADA, '1'],
      /^broadsheet: there is no account with the address "ada@example\.org"; its owner creates it by signing in\n$/,
    ],
    [['credits', 'add', ADA, 'much'], /^broadsheet: amount: "much" is not an amount of credits; /],
  ];
  for (const [args, said] of cases) {
    const { code, stderr } = await run(t, folder, args);
    assert.match(stderr, said, args.join(' '));
    assert.equal(code, 1);
  }
});
