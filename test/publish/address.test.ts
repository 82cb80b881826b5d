import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from '../../src/server/env.ts';
import { messageOf } from '../../src/shared/fault.ts';
import { parseAddress, type S3Address } from '../../src/shared/storage/address.ts';
import { openBucket, publishAddress } from '../../src/shared/storage/publish-target.ts';
import { tempFolder } from '../support/app-context.ts';

function messageFrom(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return messageOf(error);
  }
  assert.fail('nothing was refused');
}

test('credentials in an address are refused, and never shown', () => {
  const addresses = [
    's3://AKIAKEY:hunter2@papers/x',
    's3://hunter2@papers/x',
    's3://papers/x?endpoint=https://me:hunter2@store.example',
    's3://papers/x?endpoint=https%3A%2F%2Fme%3Ahunter2%40store.example',
    's3://papers/x?secret=hunter2',
    'https://me:hunter2@papers.example/',
    's3://papers/x?endpoint=https://store.example/?X-Amz-Signature=hunter2',
  ];
  for (const address of addresses) {
    const messages = [
      messageFrom(() => readSettings({ PUBLISH_URL: address })),
      messageFrom(() => readSettings({ LEASE_URL: address })),
      messageFrom(() => publishAddress(readSettings({}), address)),
      messageFrom(() =>
        readSettings({ AWS_ENDPOINT_URL: 'https://me:hunter2@store.example', PUBLISH_URL: 's3://papers' }),
      ),
    ];
    for (const message of messages) assert.ok(!message.includes('hunter2'), message);
  }
});

test('credentials that no header can carry are refused by name', () => {
  const settings = readSettings({
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'a b',
    AWS_SESSION_TOKEN: 'one\ntwo',
  });
  const address = parseAddress('s3://papers') as S3Address;
  assert.equal(
    messageFrom(() => openBucket(settings, address)),
    'AWS_SECRET_ACCESS_KEY has a space or another character that no key has; copy it again',
  );
});

test('an odd address is one line with the cure', () => {
  const refusals: [string, RegExp][] = [
    ['s3://papers/%zz', /must have a path in UTF-8.*%25/],
    ['s3://papers/%ff', /must have a path in UTF-8/],
    ['s3://papers/a%0ab', /must not have control characters/],
    ['s3://papers/a?region=eu west', /must have a region such as eu-central-1; "eu west" is not one/],
    ['s3://papers/a?endpoint=https://s.example&endpoint=https://t.example', /must have endpoint once/],
    [`s3://papers/${'a'.repeat(600)}`, /prefix of at most 512 bytes; this one has 601/],
    ['s3://papers:9000/a', /a port belongs into \?endpoint=/],
  ];
  for (const [text, message] of refusals) {
    const parsed = parseAddress(text);
    assert.equal(typeof parsed, 'string', text);
    assert.match(parsed as string, message);
  }
  const prefixes: [string, string][] = [
    ['s3://papers.of.example/größe/', 'größe/'],
    ['s3://papers/gr%C3%B6%C3%9Fe', 'größe/'],
    ['s3://papers//a//', 'a/'],
    ['s3://papers', ''],
  ];
  for (const [text, prefix] of prefixes) assert.equal((parseAddress(text) as S3Address).prefix, prefix, text);
  // One place has one name, however it is written.
  const names = prefixes
    .slice(0, 2)
    .map(([text]) => (parseAddress(text.replace('papers.of.example', 'papers')) as S3Address).href);
  assert.equal(names[0], names[1]);
});

test('a link does not lead a publication into a folder of the program', (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'var'));
  mkdirSync(join(folder, 'www'));
  writeFileSync(join(folder, 'var/broadsheet.db'), '');
  symlinkSync(join(folder, 'var'), join(folder, 'innocent'));
  symlinkSync(join(folder, 'www'), join(folder, 'web'));
  const settings = readSettings({ DATA_DIR: join(folder, 'var'), DIST_DIR: join(folder, 'dist') });
  for (const to of ['innocent', 'innocent/deeper/still', 'var/papers', '.']) {
    assert.match(
      messageFrom(() => publishAddress(settings, join(folder, to))),
      /must not hold or be within (?:DATA|DIST)_DIR/,
      to,
    );
  }
  assert.equal(publishAddress(settings, join(folder, 'web')).kind, 'folder');
});
