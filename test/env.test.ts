import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listeningOn, readSettings } from '../src/server/env.ts';
import { tempFolder } from './support/app-context.ts';
import { ed25519Witness, MemoryLog } from './support/log.ts';

test('a setting of replicas stops the start, and its value is not shown', () => {
  for (const name of ['LIBSQL_SYNC_URL', 'LIBSQL_AUTH_TOKEN']) {
    assert.throws(
      () => readSettings({ [name]: 'http://127.0.0.1:8080/?token=tresor' }),
      (error: Error) =>
        error.message ===
        `${name}=…: replicas of a libSQL server are not supported; unset it in the environment or in .env`,
    );
    // An empty variable counts as one that is not set.
    assert.doesNotThrow(() => readSettings({ [name]: '' }));
  }
});

test('addresses follow from where a server listens, unless a variable says them', () => {
  const addresses = (env: Record<string, string>) => {
    const { origin, dataOrigin, port, recordsPort } = readSettings(env);
    return [origin, dataOrigin, port, recordsPort];
  };
  assert.deepEqual(addresses({}), ['http://localhost:4321', 'http://localhost:4322', 4321, 4322]);
  assert.deepEqual(addresses({ PORT: '8080' }), ['http://localhost:8080', 'http://localhost:4322', 8080, 4322]);
  assert.deepEqual(addresses({ RECORDS_PORT: '80' }), ['http://localhost:4321', 'http://localhost', 4321, 80]);
  assert.deepEqual(addresses({ HOST: '0.0.0.0', PORT: '9000' }).slice(0, 1), ['http://localhost:9000']);
  assert.deepEqual(addresses({ HOST: '192.0.2.7', PORT: '9000' }).slice(0, 1), ['http://192.0.2.7:9000']);
  assert.deepEqual(addresses({ HOST: '::1' }).slice(0, 2), ['http://[::1]:4321', 'http://[::1]:4322']);
  assert.deepEqual(addresses({ ORIGIN: 'https://news.example/', PORT: '8080' }).slice(0, 1), ['https://news.example']);
  assert.throws(() => readSettings({ HOST: 'no host' }), /HOST=no host: must be a local address or name/);
});

test('a setting is refused once, with one cure', () => {
  const refusal = (env: Record<string, string>): string => {
    try {
      readSettings(env);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  assert.equal(
    refusal({ ORIGIN: 'foo' }),
    'ORIGIN=foo: must be an http or https address; correct it in the environment or in .env',
  );
  assert.equal(
    refusal({ RESOLVERS: 'a,b', PORT: 'x' }).match(/(RESOLVERS|PORT)=/g)?.length,
    2,
    'each variable once, though two entries of a list are wrong',
  );
  assert.match(refusal({ ORIGIN: 'foo', PORT: 'x' }), /; correct them in the environment or in \.env$/);
  assert.match(
    refusal({ ORIGIN: 'foo', LIBSQL_SYNC_URL: 'http://127.0.0.1' }),
    /ORIGIN=foo: .*LIBSQL_SYNC_URL=…: .*; unset it in .*; correct ORIGIN in the environment or in \.env$/,
  );
});

test('a server that took a free port is at that port, where no variable says otherwise', () => {
  const bound = { desk: 41_000, records: 42_000 };
  const free = listeningOn(readSettings({ PORT: '0', RECORDS_PORT: '0', HOST: '192.0.2.7' }), bound);
  assert.deepEqual([free.origin, free.dataOrigin], ['http://192.0.2.7:41000', 'http://192.0.2.7:42000']);
  const said = listeningOn(readSettings({ PORT: '0', ORIGIN: 'https://news.example', RECORDS_PORT: '8080' }), bound);
  assert.deepEqual([said.origin, said.dataOrigin], ['https://news.example', 'http://localhost:8080']);
});

test('the contact is a mail address or an https address, and nothing else', () => {
  const contact = (CONTACT: string) => readSettings({ CONTACT }).contact;
  assert.equal(readSettings({}).contact, null);
  assert.equal(contact(''), null);
  assert.deepEqual(contact(' records@example.org'), {
    url: 'mailto:records@example.org',
    text: 'records@example.org',
  });
  assert.deepEqual(contact('a+b@example.org')?.url, 'mailto:a%2Bb@example.org');
  assert.deepEqual(contact('https://example.org/contact'), {
    url: 'https://example.org/contact',
    text: 'https://example.org/contact',
  });
  for (const [wrong, shown] of [
    ['me', 'me'],
    ['http://example.org/', 'http://example.org/'],
    ['mailto:me@example.org', 'mailto:me@example.org'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    // A message is read by more people than may know a password.
    ['https://u:p@a.example/', 'https://…'],
  ] as const) {
    assert.throws(
      () => contact(wrong),
      (error: Error) =>
        error.message ===
        `CONTACT=${shown}: must be a mail address, such as records@example.org, or an https address; correct it in the environment or in .env`,
      wrong,
    );
  }
});

test('the names of the logs are those of the variables, and never one name for two logs', () => {
  assert.deepEqual(readSettings({}).logOrigins, { desk: null, records: null });
  const names = { LOG_ORIGIN: 'papers.example/log', RECORDS_LOG_ORIGIN: 'records.example:8443/log' };
  assert.deepEqual(readSettings(names).logOrigins, { desk: names.LOG_ORIGIN, records: names.RECORDS_LOG_ORIGIN });
  for (const name of ['https://papers.example/log', 'a b', 'a+b', 'a'.repeat(256)]) {
    assert.throws(
      () => readSettings({ LOG_ORIGIN: name }),
      /LOG_ORIGIN=.*: must be a name such as papers\.example\/log/,
    );
  }
  assert.throws(
    () => readSettings({ ...names, RECORDS_LOG_ORIGIN: names.LOG_ORIGIN }),
    /RECORDS_LOG_ORIGIN=papers\.example\/log: must not be the name of the other log/,
  );
});

test('a policy is read when the settings are, and a fault in it names the file and the line', (t) => {
  const file = join(tempFolder(t), 'policy');
  const { vkey } = ed25519Witness('witness.example/w1', 4);
  const refused = (text: string, message: RegExp) => {
    writeFileSync(file, text);
    assert.throws(
      () => readSettings({ LOG_POLICY: file }),
      (error: Error) => error.message.startsWith(`LOG_POLICY=${file}: ${file}: `) && message.test(error.message),
    );
  };
  writeFileSync(file, `witness w1 ${vkey} https://witness.example/\nquorum w1\n`);
  assert.equal(readSettings({ LOG_POLICY: file }).logPolicy, file);
  assert.equal(readSettings({}).logPolicy, null);
  refused('witless w1\nquorum none\n', /line 1 of the policy: unknown word "witless"; a line begins with log, witness/);
  refused(`# ours\nwitness w1 ${new MemoryLog().vkey}\nquorum w1\n`, /line 2 .* is a plain Ed25519 key; it must be/);
  refused(
    `witness w1 ${vkey}\ngroup g 2 w1\nquorum g\n`,
    /line 2 .*: 2 of 1 members can never have cosigned; ask for 1 at most/,
  );
  refused(`witness w1 ${vkey}\nquorum w2\n`, /line 2 .*: "w2" is not defined on a line above; correct the file, or/);
  refused(`witness w1 ${vkey}\nquorum w1\n`, /the quorum cannot be met, .* have no address: w1; give each/);
  refused(`witness w1 ${vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+')}\nquorum w1\n`, /says key hash 00000000/);
  const missing = join(file, '../no-policy');
  assert.throws(
    () => readSettings({ LOG_POLICY: missing }),
    /no-policy cannot be read: ENOENT.*; correct the file, or name another in the env/,
  );
});
