import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { pino } from 'pino';
import { logSource } from '../../../src/operate/audit/log/served-log.ts';
import { type ArchiveTrust, verifyArchive } from '../../../src/operate/audit/verify-archive.ts';
import type { VerifyingKey } from '../../../src/proof/keyring.ts';
import type { Signer } from '../../../src/proof/signing.ts';
import { DAY } from '../../../src/proof/time.ts';
import { manifestText, readManifest } from '../../../src/records/archive/manifest.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { eraseName } from '../../../src/records/jobs/erasure.ts';
import type { ArchivePlace } from '../../../src/shared/storage/archive-place.ts';
import { logFolder } from '../../../src/signing/log/log-files.ts';
import { publishLogOnce } from '../../../src/signing/log/open-witnesses.ts';
import { appContextIn, fileScope, tempFolder } from '../../support/app-context.ts';
import { archiveAll, folderPlace, NOON, observeDays } from '../../support/archive.ts';
import { alteredMembers } from '../../support/each-field.ts';
import { runAlone } from '../../support/program.ts';
import * as fc from '../../support/properties.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

interface Stand {
  place: ArchivePlace;
  folder: string;
  log: string;
  keys: VerifyingKey[];
  key: { signer: Signer; kid: string };
  /** The keys of all objects of the archive. */
  objects: string[];
}

const scope = fileScope();
let stand: Stand;
/** A month, open days, and the tombstones of `www.a.example`. */
before(async () => {
  const folder = tempFolder(scope);
  const clock = { now: NOON };
  const archive = join(folder, 'archive');
  const app = appContextIn(scope, folder, clock, { ARCHIVE_URL: archive });
  observeDays(app, clock, 5);
  clock.now += 2 * DAY;
  const place = folderPlace(archive);
  await archiveAll(app, place);
  eraseName(app, parseHostname('www.a.example'), 'asked');
  clock.now += DAY;
  await archiveAll(app, place);
  await publishLogOnce(app, 'records', pino({ level: 'silent' }));
  const objects = app.store.records.archive
    .objects()
    .flatMap(({ key, seeds }) => (seeds === null ? [key] : [key, seeds.key]));
  const keys = app.store.desk.verifyingKeys('records');
  const key = app.signer.key('records');
  stand = { place, folder: archive, log: logFolder(app.settings.logDir, 'records'), keys, key, objects };
  app.close();
});

/** How its line begins. */
const COPIED = 'what the copies for engines say';

const whole = (): ArchiveTrust => ({ keys: stand.keys, log: logSource(stand.log), policy: null });

function copied(t: Parameters<typeof tempFolder>[0]): { folder: string; place: ArchivePlace } {
  const folder = join(tempFolder(t), 'archive');
  cpSync(stand.folder, folder, { recursive: true });
  return { folder, place: folderPlace(folder) };
}

test('an archive holds without its database, and what was not checked is said', async () => {
  const alone = await verifyArchive(stand.place, { keys: null, log: null, policy: null });
  assert.deepEqual(alone.faults, []);
  assert.deepEqual([alone.through, alone.observations, alone.tombstones], [15, 10, 5]);
  assert.deepEqual(
    alone.unchecked.map((line) => line.replace(/:.*|;.*/, '')),
    [
      'whose keys these are',
      'what a database derived, and the observations after 15',
      COPIED,
      'whether the log has the observations',
    ],
  );
  const logged = await verifyArchive(stand.place, whole());
  assert.deepEqual(logged.faults, []);
  assert.deepEqual(logged.unchecked, [
    'what a database derived, and the observations after 15',
    `${COPIED}: only that their bytes are the signed ones`,
    'whether others see the same log; give --policy',
  ]);
});

/** The archive with another text as its manifest. */
function manifestIs(text: string): ArchivePlace {
  const bytes = Buffer.from(text);
  return {
    ...stand.place,
    get: (key, max) =>
      key === 'manifest.json' ? Promise.resolve({ bytes, etag: 'x', head: {} } as never) : stand.place.get(key, max),
  };
}

test('a manifest that names a member twice, or that has no canonical form, is refused in words', async () => {
  const text = readFileSync(join(stand.folder, 'manifest.json'), 'utf8');
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  for (const [altered, why] of [
    [
      text.replace('"objects":', '"objects":[],"objects":'),
      /^manifest\.json: it names the member "objects" twice; restore/,
    ],
    [text.replace('"v":1', '"v":1,"v":1'), /it names the member "v" twice/],
    [text.replace('"v":1', '"v":1e400'), /it is not what its note signs/],
    [text.replace('"v":1', `"v":${deep}`), /it is not what its note signs/],
    [text.replace('"v":1', `"v":1,"w":${deep}`), /it is not what its note signs/],
  ] as const) {
    const { faults, unchecked } = await verifyArchive(manifestIs(altered), whole());
    assert.match(faults.join('\n'), why);
    assert.match(unchecked.join('\n'), /^every object: only a valid manifest says/);
  }
});

test('a manifest of which any member was altered does not hold', { skip: ONLY_WIDE }, async () => {
  const text = readFileSync(join(stand.folder, 'manifest.json'), 'utf8');
  let count = 0;
  for (const { path, what, text: altered } of alteredMembers(JSON.parse(text))) {
    for (const keys of [stand.keys, null]) {
      const { faults } = await verifyArchive(manifestIs(altered), { ...whole(), keys });
      assert.match(faults.join('\n'), /^manifest\.json: .*; restore the previous version/, `${path}: ${what}`);
      count++;
    }
  }
  assert.ok(count > 500, `${count} alterations`);
});

test('a manifest whose signer names a file outside its folder is refused before anything is read', () => {
  const text = readFileSync(join(stand.folder, 'manifest.json'), 'utf8');
  const { said, note, hash, ...body } = readManifest(text, stand.keys, 'it');
  const [first, ...others] = body.objects;
  assert.ok(first);
  const signed = (altered: object) =>
    readManifest(
      manifestText({ ...body, objects: [{ ...first, ...altered }, ...others] }, said, stand.key),
      stand.keys,
      'it',
    );
  assert.equal(signed({}).note, note);
  assert.equal(signed({}).hash, hash);
  for (const key of ['../seed', '/dev/zero', 'observations/../../x', 'a//b', '.', '']) {
    for (const altered of [{ key }, { publish: key }, { seeds: { key, etag: '"x"', sha256: '0'.repeat(64) } }])
      assert.throws(() => signed(altered), /it has not the form of a manifest \(objects\.0\./, key);
  }
});

test('a signed manifest of numbers that no object can have comes to an end', { skip: ONLY_WIDE }, async (t) => {
  const { folder, place } = copied(t);
  const file = join(folder, 'manifest.json');
  const { said, note, hash, ...body } = readManifest(readFileSync(file, 'utf8'), stand.keys, 'it');
  const n = body.objects.findIndex(({ kind, rows }) => kind === 'observations' && rows > 0);
  const verified = (altered: object, through = said.through) => {
    const objects = body.objects.map((object, at) => (at === n ? { ...object, ...altered } : object));
    writeFileSync(file, manifestText({ ...body, objects }, { ...said, through }, stand.key));
    return verifyArchive(place, whole());
  };
  const huge = 900_000_000_000_000;
  const cases: [altered: object, through: number | undefined, fault: RegExp][] = [
    [{ rows: huge }, undefined, /: it cannot have 900000000000000 rows/],
    [{ rows: huge }, huge, /more observations likewise/],
    [{ rows: -1 }, undefined, /: it cannot have -1 rows|it has not the form of a manifest/],
    [{ bytes: huge }, undefined, /: it has \d+ bytes, and the manifest says 900000000000000/],
    [{ key: 'a\0b' }, undefined, /it has not the form of a manifest/],
  ];
  for (const [altered, through, fault] of cases)
    assert.match((await verified(altered, through)).faults.join('\n'), fault, JSON.stringify(altered));
});

test('a pipe in the place of an object is a fault of it, and the others are checked', async (t) => {
  const { folder, place } = copied(t);
  const key = stand.objects.find((one) => one.endsWith('.parquet')) ?? '';
  rmSync(join(folder, key));
  execFileSync('mkfifo', [join(folder, key)]);
  const { faults, tombstones } = await verifyArchive(place, whole());
  assert.ok(
    faults.some((fault) => fault.startsWith(`${key}: it cannot be read (`)),
    String(faults),
  );
  assert.equal(tombstones, 5);
});

test('a byte that is flipped anywhere is named with its object, and with its row where it changes one', async (t) => {
  assert.ok(
    stand.objects.some((key) => key.startsWith('observations/')) &&
      stand.objects.some((key) => key.startsWith('tombstones/')),
  );
  const { folder, place } = copied(t);
  let rows = 0;
  const flips = fc.record({ object: fc.nat(), at: fc.nat(), bit: fc.nat(7) });
  await fc.assert(
    fc.asyncProperty(flips, async ({ object, at, bit }) => {
      const key = [...stand.objects, 'manifest.json'][object % (stand.objects.length + 1)] ?? '';
      const file = join(folder, key);
      const bytes = readFileSync(file);
      const flipped = Buffer.from(bytes);
      const position = at % bytes.length;
      flipped[position] = (flipped[position] ?? 0) ^ (1 << bit);
      writeFileSync(file, flipped);
      try {
        const { faults, observations } = await verifyArchive(place, whole());
        assert.ok(
          faults.some((fault) => fault.startsWith(key)),
          `${key}, byte ${position}: ${faults}`,
        );
        if (key.startsWith('seeds/'))
          assert.ok(faults.some((fault) => /^observations\S+, row \d+: .*record_root/.test(fault)));
        if (key.startsWith('tombstones/'))
          assert.ok(
            faults.some((fault) => /line \d+: seq|a line of tombstones/.test(fault)),
            String(faults),
          );
        if (faults.some((fault) => /, rows? \d/.test(fault))) rows++;
        assert.ok(key !== 'manifest.json' || observations === 0, 'nothing of it was believed');
      } finally {
        writeFileSync(file, bytes);
      }
    }),
  );
  assert.ok(rows > 0);
});

test('what the log does not have, other keys, and objects that are gone or exchanged are named', async (t) => {
  const { folder, place } = copied(t);
  const other = await verifyArchive(place, { ...whole(), keys: [] });
  assert.match(other.faults.join(), /manifest\.json: none of this desk’s keys has signed it/);
  assert.match(other.unchecked.join(), /every object/);

  const empty = tempFolder(t);
  cpSync(stand.log, empty, { recursive: true });
  const bundle = globSync('tile/entries/**/*', { cwd: empty }).find((name) => /\.p\/\d+$/.test(name)) ?? '';
  writeFileSync(join(empty, bundle), readFileSync(join(empty, bundle)).fill('0', 40, 44));
  assert.match(
    (await verifyArchive(place, { ...whole(), log: logSource(empty) })).faults.join('\n'),
    /other hashes than the entries/,
  );

  const [one = '', two = ''] = stand.objects.filter((key) => key.endsWith('.parquet'));
  cpSync(join(folder, one), join(folder, two));
  const exchanged = await verifyArchive(place, whole());
  assert.ok(exchanged.faults.some((fault) => fault.startsWith(`${two}: its bytes are not those`)));
  await place.remove([one]);
  const { faults } = await verifyArchive(place, whole());
  assert.ok(faults.includes(faults.find((fault) => fault.startsWith(`${one}: the object is gone`)) ?? ''));
  assert.ok(faults.some((fault) => /^archive: observation \d+ is in none of its objects$/.test(fault)));
});

test('archive verify is a command that needs no database', { skip: ONLY_WIDE }, async (t) => {
  const empty = tempFolder(t);
  const good = await runAlone(t, empty, ['archive', 'verify', stand.folder, '--log', stand.log]);
  assert.equal(good.code, 0, good.stderr);
  assert.match(
    good.stdout,
    /: manifest \d+, 10 observations, 5 erased: every record, receipt and chain holds\nnot checked: /,
  );
  const { folder } = copied(t);
  const [key = ''] = stand.objects;
  writeFileSync(join(folder, key), 'other');
  const bad = await runAlone(t, empty, ['archive', 'verify', folder, '--json']);
  assert.equal(bad.code, 1);
  assert.ok((JSON.parse(bad.stdout) as { faults: string[] }).faults.some((fault) => fault.startsWith(key)));
  const none = await runAlone(t, empty, ['archive', 'verify', tempFolder(t)]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /has no manifest\.json; give the address of an archive/);
});
