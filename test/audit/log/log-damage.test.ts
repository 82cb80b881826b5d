import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Database from 'libsql';
import pino from 'pino';
import { airStory } from '../../../src/desk/airing.ts';
import { fileStory } from '../../../src/desk/file-story.ts';
import { LOG_SERVICES } from '../../../src/desk/log-leaves.ts';
import { auditLog } from '../../../src/operate/audit/log/audit-log.ts';
import { sha256 } from '../../../src/proof/basis.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { recordProbe } from '../../../src/records/recording.ts';
import { deskOf } from '../../../src/server/context.ts';
import { publishLogOnce } from '../../../src/signing/log/open-witnesses.ts';
import { appContextIn, closeLeftOpen, createPaper, filing, PAPER, tempFolder } from '../../support/app-context.ts';
import { ed25519Witness } from '../../support/log.ts';
import { publish, revise, withdraw } from '../../support/newsroom.ts';
import { certificate, HOUR, probe, toolsAt } from '../../support/probes.ts';

// Every damage is done to a sound log behind the program's back, and is healed before the next one.

const ends: (() => void)[] = [];
const scope = { after: (work: () => void) => void ends.unshift(work) };
const FOLDERS = ['var', 'log'];
let folder: string;
let pristine: string;
const clock = { now: Date.now() };

before(async () => {
  folder = tempFolder(scope);
  pristine = tempFolder(scope);
  const app = appContextIn({ after() {} }, folder, clock);
  const tick = () => {
    clock.now += 1_000;
  };
  createPaper(app);
  const { store } = app;
  const desk = deskOf(app);
  for (const slug of ['ebb', 'flood', 'slack']) {
    publish(app, slug);
    tick();
  }
  revise(app, 'ebb', { headline: 'What the ebb really means', correction: 'It said otherwise.' });
  tick();
  withdraw(app, 'slack');
  fileStory(desk, PAPER, filing('draft'), { by: 'cli' });
  tick();
  fileStory(desk, PAPER, filing('later'), { by: 'cli' });
  airStory(desk, PAPER, 'later', { by: 'cli', at: clock.now + 90 * 24 * HOUR });
  // Enough for a full tile and a node.
  const name = parseHostname('example.test');
  store.records.watch([name], clock.now);
  const { signer, kid } = desk.signingKey;
  for (let n = 0; n < 300; n++) {
    clock.now += HOUR;
    const taken = probe(name.hostname, clock.now, { A: [`192.0.2.${n % 200}`] }, certificate('a'));
    store.records.leaseNames({ id: `${n}`, owner: 'test', names: [name.hostname], until: clock.now + HOUR });
    recordProbe(store.records, `${n}`, taken, toolsAt(clock.now, { signer, kid }));
  }
  const witness = ed25519Witness('witness.example', 5);
  for (const log of LOG_SERVICES) {
    await publishLogOnce(app, log, pino({ level: 'silent' }));
    const head = store.database.log.lastHead(log);
    assert(head !== null);
    const cosigned = witness.cosign(head.checkpoint, 1_790_000_000);
    const line = cosigned.slice(head.checkpoint.length, -1);
    store.database.log.addCosignature(log, { ...head, vkey: witness.vkey, time: 1_790_000_000, line });
    store.database.log.setCosigned(log, head.origin, head.size, cosigned);
  }
  app.close();
  for (const part of FOLDERS) cpSync(join(folder, part), join(pristine, part), { recursive: true });
});
after(() => {
  for (const end of ends) end();
});

function heal(): void {
  closeLeftOpen();
  for (const part of FOLDERS) {
    rmSync(join(folder, part), { recursive: true, force: true });
    cpSync(join(pristine, part), join(folder, part), { recursive: true });
  }
}

async function audit(): Promise<string[]> {
  const app = appContextIn({ after() {} }, folder, clock);
  try {
    const faults: string[] = [];
    for (const log of LOG_SERVICES) await auditLog(app, log, faults, () => {});
    return faults;
  } finally {
    app.close();
  }
}

/** Runs SQL, without triggers and foreign keys. */
function sql(text: string): void {
  const db = new Database(join(folder, 'var/broadsheet.db'));
  const triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all() as { name: string }[];
  db.exec('PRAGMA foreign_keys = OFF');
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.exec(text);
  db.close();
}

const inLog = (path: string): string => join(folder, 'log', path);
const flip = (path: string): void => {
  const bytes = readFileSync(inLog(path));
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  writeFileSync(inLog(path), bytes);
};
const HASH = `receipt-hash/v1\n${sha256('never signed')}\n`;

const DAMAGES: [claim: string, damage: () => void, said: RegExp][] = [
  [
    'a leaf that was changed',
    () =>
      sql(
        "UPDATE log_leaves SET entry = replace(entry, 'revision 1', 'revision 7') WHERE log = 'desk' AND leaf_index = 2",
      ),
    /^log of the desk: leaf 2: its hash is not that of its entry$/,
  ],
  [
    'a leaf of an observation that was changed',
    () => sql("UPDATE log_leaves SET receipt = zeroblob(32) WHERE log = 'records' AND leaf_index = 7"),
    /^log of the records: leaf 7: its hash is not that of its entry$/,
  ],
  [
    'the newest leaf dropped',
    () =>
      sql(
        "DELETE FROM log_leaves WHERE log = 'desk' AND leaf_index = (SELECT max(leaf_index) FROM log_leaves WHERE log = 'desk')",
      ),
    /^log of the desk: harbor-ledger\/later revision 1: the log has no leaf of its receipt$/,
  ],
  [
    'a leaf dropped in the middle',
    () => sql("DELETE FROM log_leaves WHERE log = 'records' AND leaf_index = 7"),
    /^log of the records: 1 of the leaves 0 to 255 are missing$/,
  ],
  [
    'a leaf of something that nobody signed',
    () =>
      sql(
        `INSERT INTO log_leaves SELECT 'desk', max(leaf_index) + 1, zeroblob(32), '${HASH}', NULL FROM log_leaves WHERE log = 'desk'`,
      ),
    /^log of the desk: leaf \d+ \(receipt-hash\): it has no signed record$/,
  ],
  [
    'an observation without a leaf',
    () =>
      sql(
        "DELETE FROM log_leaves WHERE log = 'records' AND leaf_index = (SELECT max(leaf_index) FROM log_leaves WHERE log = 'records')",
      ),
    /^log of the records: observation 300: the log has no leaf of it$/,
  ],
  [
    'a withdrawal that never was',
    () => sql("UPDATE log_leaves SET entry = replace(entry, 'piece ', 'piece x') WHERE entry LIKE 'withdrawal%'"),
    /^log of the desk: leaf \d+ \(withdrawal\): it has no signed record$/,
  ],
  [
    'a piece that went without a withdrawal',
    () => sql("UPDATE pieces SET state = 'withdrawn' WHERE slug = 'flood'"),
    /flood revision 1: the log has its receipt, but it is not on air, and no later leaf withdraws it$/,
  ],
  [
    'a node for another tree',
    () => sql("UPDATE log_nodes SET hash = zeroblob(32) WHERE log = 'records'"),
    /^log of the records: tile\/1\/000\.p\/1: the stored nodes are not those of the leaves$/,
  ],
  ['a node dropped', () => sql('DELETE FROM log_nodes'), /^log of the records: tile\/1\/000\.p\/1: the stored nodes/],
  [
    'a head for another root',
    () =>
      sql(
        "UPDATE log_heads SET checkpoint = (SELECT checkpoint FROM log_heads h WHERE h.log = 'desk'), cosigned = NULL WHERE log = 'records'",
      ),
    /^log of the records: head 1 of \d+ leaves: its checkpoint is of \S+ with \d+ leaves$/,
  ],
  [
    'a head that the log has not signed',
    () =>
      sql(
        "UPDATE log_heads SET checkpoint = replace(checkpoint, substr(checkpoint, -30, 10), 'AAAAAAAAAA'), cosigned = NULL WHERE log = 'desk'",
      ),
    /^log of the desk: the log key file \S+ does not hold the key that signed the log/,
  ],
  [
    'a head of more leaves than there are',
    () => sql("UPDATE log_heads SET size = 9999 WHERE log = 'desk'"),
    /^log of the desk: head 1 of 9999 leaves: the log has \d+$/,
  ],
  [
    'a cosigned text with another line',
    () => sql("UPDATE log_heads SET cosigned = cosigned || '— w AAAA' || char(10) WHERE log = 'desk'"),
    /^log of the desk: head 1 of \d+ leaves: its cosigned text has a line that is not stored: — w AAAA$/,
  ],
  [
    'a cosignature of another time',
    () => sql("UPDATE log_cosignatures SET time = time + 1 WHERE log = 'desk'"),
    /^log of the desk: the cosignature of witness\.example for \d+ leaves is of another time than is stored$/,
  ],
  [
    'a cosignature for another head',
    () =>
      sql(
        "UPDATE log_cosignatures SET line = (SELECT line FROM log_cosignatures c WHERE c.log = 'records') WHERE log = 'desk'",
      ),
    /^log of the desk: the cosignature of witness\.example for \d+ leaves: the checkpoint has a wrong signature/,
  ],
  [
    'a tile that was altered on disk',
    () => flip('records/tile/0/000'),
    /records\/tile\/0\/000: the file was altered; start the server/,
  ],
  [
    'a bundle that was altered on disk',
    () => flip('records/tile/entries/000'),
    /tile\/entries\/000: the file was altered/,
  ],
  [
    'a swapped tile on disk',
    () => cpSync(inLog('records/tile/0/001.p/45'), inLog('records/tile/0/000')),
    /records\/tile\/0\/000: the file was altered/,
  ],
  [
    'a tile that is missing on disk',
    () => rmSync(inLog('records/tile/0/000')),
    /records\/tile\/0\/000: the file is missing/,
  ],
  [
    'a checkpoint that is missing on disk',
    () => rmSync(inLog('desk/checkpoint')),
    /desk\/checkpoint: the file is missing/,
  ],
  [
    'a checkpoint of another log on disk',
    () => cpSync(inLog('records/checkpoint'), inLog('desk/checkpoint')),
    /desk\/checkpoint: the database has no such head of \d+ leaves of/,
  ],
  [
    'a policy that asks for less on disk',
    () => writeFileSync(inLog('desk/policy'), 'quorum none\n'),
    /desk\/policy: the file was altered/,
  ],
];

test('an audit finds nothing in sound logs', async () => {
  assert.deepEqual(await audit(), []);
});

test('a checkpoint that was published with a late cosignature is sound, and one with another line is not', async () => {
  const app = appContextIn({ after() {} }, folder, clock);
  const head = app.store.database.log.lastHead('desk') ?? assert.fail();
  const witness = ed25519Witness('late.example', 6);
  const line = witness.cosign(head.checkpoint, 1_790_000_001).slice(head.checkpoint.length, -1);
  app.store.database.log.addCosignature('desk', { ...head, vkey: witness.vkey, time: 1_790_000_001, line });
  app.close();
  try {
    writeFileSync(inLog('desk/checkpoint'), `${head.cosigned}${line}\n`);
    assert.deepEqual(await audit(), []);
    const unknown = witness.cosign(head.checkpoint, 1_790_000_002).slice(head.checkpoint.length);
    writeFileSync(inLog('desk/checkpoint'), `${head.cosigned}${unknown}`);
    const [fault = '', ...others] = await audit();
    assert.match(fault, /desk\/checkpoint: the database has no such head/);
    assert.deepEqual(others, []);
  } finally {
    heal();
  }
});

test('an audit with another LOG_POLICY than the server says so', async () => {
  try {
    const vkey = ed25519Witness('witness.example', 5).vkey;
    const [log = ''] = readFileSync(inLog('desk/policy'), 'utf8').split('\n');
    writeFileSync(inLog('desk/policy'), `${log}\nwitness w ${vkey}\nquorum w\n`);
    const [fault = '', ...others] = await audit();
    assert.match(fault, /desk\/policy: it names other witnesses than the LOG_POLICY of this command; give the command/);
    assert.deepEqual(others, []);
  } finally {
    heal();
  }
});

for (const [claim, damage, said] of DAMAGES) {
  test(`an audit finds ${claim}`, async () => {
    damage();
    try {
      const faults = await audit();
      assert(
        faults.some((fault) => said.test(fault)),
        faults.join('\n'),
      );
    } finally {
      heal();
    }
  });
}
