import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import pino from 'pino';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { LOG_SERVICES } from '../../src/desk/log-leaves.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { present } from '../../src/proof/narrow.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { publishLogOnce } from '../../src/signing/log/open-witnesses.ts';
import { appContextIn, closeLeftOpen, filing, type Scope, tempFolder } from '../support/app-context.ts';
import { ed25519Witness } from '../support/log.ts';
import { certificate, HOUR, probe, toolsAt } from '../support/probes.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

export const PAPER = 'tide-table';
export const PRIVATE = 'locked-table';

/** What a desk has on disk. */
const FOLDERS = ['var', 'papers', 'log'];

/** A healthy desk of a few pieces, with its trees, and a way back to it after each damage. */
export interface Stand {
  /** The public paper's tree. */
  tree: string;
  folder: string;
  /** Everything as it was. */
  heal(): void;
  audit(options?: { deep?: boolean }): Promise<string[]>;
  /** Runs SQL behind the program's back: no trigger and no foreign key stands in the way, and all stand after it. */
  sql(text: string): void;
  /** Runs SQL as it is. */
  raw(text: string): void;
  rows(text: string): Record<string, unknown>[];
  read(path: string): string;
  /** Changes a file, and nothing else. */
  alter(path: string, change: (text: string) => string): void;
  /** Changes or adds a file, and makes the manifest agree. */
  forge(path: string, change: (text: string) => string): void;
}

export async function healthyDesk(t: Scope): Promise<Stand> {
  const folder = tempFolder(t);
  const pristine = tempFolder(t);
  await enterPapers(folder, [{ slug: PAPER }, { slug: PRIVATE, isPublic: false }]);
  const clock = { now: Date.now() };
  const app = appContextIn({ after() {} }, folder, clock);
  work(app, clock);
  await publishLogs(app);
  await pressPapers(app);
  app.close();
  for (const name of FOLDERS) cpSync(join(folder, name), join(pristine, name), { recursive: true });

  const tree = join(folder, 'papers', PAPER);
  const open = () => new Database(join(folder, 'var/broadsheet.db'));
  const read = (path: string) => readFileSync(join(tree, path), 'utf8');
  const stand: Stand = {
    tree,
    folder,
    heal() {
      // Each damage opens a handful of databases.
      closeLeftOpen();
      for (const name of FOLDERS) {
        rmSync(join(folder, name), { recursive: true, force: true });
        cpSync(join(pristine, name), join(folder, name), { recursive: true });
      }
    },
    async audit(options) {
      const at = appContextIn({ after() {} }, folder, clock);
      try {
        return (await auditApp(at, options)).faults;
      } finally {
        at.close();
      }
    },
    sql(text) {
      const db = open();
      try {
        const triggers = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as {
          name: string;
          sql: string;
        }[];
        db.exec('PRAGMA foreign_keys = OFF');
        for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
        db.exec(text);
        for (const { sql } of triggers) db.exec(sql);
      } finally {
        db.close();
      }
    },
    raw(text) {
      const db = open();
      db.exec(text);
      db.close();
    },
    rows(text) {
      const db = open();
      try {
        return db.prepare(text).all() as Record<string, unknown>[];
      } finally {
        db.close();
      }
    },
    read,
    alter(path, change) {
      const text = change(read(path));
      writeFileSync(join(tree, path), text);
    },
    forge(path, change) {
      stand.alter(path, change);
      const digest = sha256(readFileSync(join(tree, path)));
      stand.sql(`UPDATE files SET digest = '${digest}' WHERE paper = '${PAPER}' AND path = '${path}'`);
    },
  };
  return stand;
}

/** Signs and publishes a head of each log, which a witness has cosigned. */
async function publishLogs(app: AppContext): Promise<void> {
  const witness = ed25519Witness('witness.example', 5);
  for (const log of LOG_SERVICES) {
    await publishLogOnce(app, log, pino({ level: 'silent' }));
    const { origin, size, checkpoint } = present(app.store.database.log.lastHead(log));
    const time = 1_790_000_000;
    const cosigned = witness.cosign(checkpoint, time);
    const line = cosigned.slice(checkpoint.length, -1);
    app.store.database.log.addCosignature(log, { origin, size, vkey: witness.vkey, time, line });
    app.store.database.log.setCosigned(log, origin, size, cosigned);
  }
}

/** A revision, a withdrawal, a piece to come, a piece of today; two hosts observed; some credits bought and drawn. */
function work(app: AppContext, clock: { now: number }): void {
  const { store } = app;
  const desk = deskOf(app);
  const by = { by: 'cli' };
  const file = (slug: string, more: object = {}) => {
    const { byline: persona, ...body } = storyBody(slug);
    const { cited_facts } = body;
    const facts = cited_facts.map((fact, index) => ({ claim_key: null, ...fact, n: index + 1 }));
    return fileStory(desk, PAPER, filing(slug, { ...body, persona, cited_facts: facts, ...more } as object), by);
  };
  const { records } = store;
  const { signer, kid } = desk.signingKey;
  const names = ['example.test', 'other.test'];
  records.watch(names.map(parseHostname), clock.now);
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    clock.now += 25 * HOUR;
    records.leaseNames({ id: address, owner: 'test', names, until: clock.now + HOUR });
    for (const name of names) {
      const taken = probe(name, clock.now, { A: [address] }, certificate('a'));
      recordProbe(records, address, taken, toolsAt(clock.now, { signer, kid }));
    }
  }
  file('ebb-and-flow');
  airStory(desk, PAPER, 'ebb-and-flow', by);
  clock.now += 1_000;
  file('ebb-and-flow', { headline: 'What the ebb really means', correction: 'It said otherwise.' });
  clock.now += 1_000;
  withdrawStory(desk, PAPER, 'high-water', { by: 'cli', reason: 'It was wrong.' });
  clock.now += 1_000;
  file('spring-tide');
  airStory(desk, PAPER, 'spring-tide', { by: 'cli', at: clock.now + 1_000 });
  file('neap-tide');
  airStory(desk, PAPER, 'neap-tide', { by: 'cli', at: clock.now + 90 * 24 * HOUR });
  clock.now += 5_000;

  store.records.accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: clock.now });
  store.records.credits.append('ada', { at: clock.now, amount: 5_000_000, note: null });
  store.records.credits.append('ada', { at: clock.now, amount: -1_000_000, note: 'a mistake' });
}
