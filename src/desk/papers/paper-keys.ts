import { randomBytes } from 'node:crypto';
import type { AppContext } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { Fault } from '../../shared/fault.ts';
import { keyExpiry, keyLog } from '../../shared/key-life.ts';
import { newId } from '../../shared/new-id.ts';
import { shapeProblems } from '../../shared/shape.ts';
import { keyChange } from '../activity.ts';
import { KeyBody, keyRow, makeKey, pauseKey } from './keys.ts';
import { recordCommand } from './record-command.ts';
import { requirePaper } from './require-paper.ts';

/**
 * Creates a key of a paper. `options` maps members to the names of command options. Throws `invalid_request`,
 * `not_found`, `conflict`.
 */
export function makePaperKey(
  app: AppContext,
  paper: string,
  words: Record<string, string | undefined>,
  options: Record<string, string> = {},
) {
  const { store, clock } = app;
  requirePaper(app, paper);
  const body = KeyBody.safeParse(words);
  if (!body.success) {
    const [problem] = shapeProblems(body.error, words);
    const field = problem?.field ?? '';
    throw new Fault('invalid_request', `--${options[field] ?? field}: ${problem?.message}`, { field });
  }
  if (words.expires_at !== undefined) keyExpiry(words.expires_at, '--expires-at', clock.now());
  const { keys, archive } = store.desk;
  const maker = { keys, archive: archive(paper), now: clock.now, newId, random: randomBytes, by: 'cli' };
  return store.database.transact(() => {
    const made = makeKey(maker, paper, body.data);
    recordCommand(app, paper, keyChange('made', made.made));
    return made;
  });
}

/** Lists the keys of a paper, including revoked ones. Throws `not_found` when the paper does not exist. */
export function listPaperKeys(app: AppContext, paper: string) {
  requirePaper(app, paper);
  const { keys } = app.store.desk;
  return keys.list(paper).map((key) => keyRow(key, keys.hasExpired(key, app.clock.now())));
}

/** Returns the history of a paper's key. Throws `not_found`. */
export function paperKeyLog({ store, clock }: AppContext, paper: string, id: string) {
  const { keys } = store.desk;
  const key = keys.byId(id);
  if (key === null || key.paper !== paper) throw unknownKey(paper, id, '');
  return keyLog(key, keys.daysOf(id), keys.hasExpired(key, clock.now()));
}

/** Revokes a key of a paper. Throws `not_found` unless the paper has such an active key. */
export function revokePaperKey(app: AppContext, paper: string, id: string): void {
  const { store, clock } = app;
  store.database.transact(() => {
    const key = store.desk.keys.byId(id);
    if (key === null || !store.desk.keys.revoke(paper, id, clock.now(), 'cli'))
      throw unknownKey(paper, id, ' in force');
    recordCommand(app, paper, keyChange('revoked', key));
  });
}

/** Pauses a key of a paper, or resumes it. Returns whether anything changed. Throws `not_found`. */
export function pausePaperKey(app: AppContext, paper: string, id: string, paused: boolean): boolean {
  const { store, clock } = app;
  return store.database.transact(() => {
    const at = { keys: store.desk.keys, now: clock.now() };
    const { key, changed } = pauseKey(at, paper, id, { paused, by: 'cli' });
    if (changed) recordCommand(app, paper, keyChange(paused ? 'paused' : 'resumed', key));
    return changed;
  });
}

function unknownKey(paper: string, id: string, state: string): Fault {
  return new Fault(
    'not_found',
    `${paper} has no key ${JSON.stringify(id)}${state}; \`${CLI} key list --paper ${paper}\` lists its keys`,
  );
}

/** Revokes the key of a person's seat and returns it. Throws `not_found` when the seat does not exist. */
export function removeSeat(app: AppContext, paper: string, email: string): { id: string; seat: string | null } {
  requirePaper(app, paper);
  const { keys } = app.store.desk;
  return app.store.database.transact(() => {
    const held = keys.seat(paper, email.toLowerCase());
    if (held === null || !keys.revoke(paper, held.id, app.clock.now(), 'cli')) {
      const message = `${email} has no seat on ${paper}; \`${CLI} seat list --paper ${paper}\` lists the seats`;
      throw new Fault('not_found', message);
    }
    recordCommand(app, paper, keyChange('revoked', held));
    return held;
  });
}
