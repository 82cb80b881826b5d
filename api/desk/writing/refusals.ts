import { createMiddleware } from 'hono/factory';
import { type Action, recordRefusal, type Subject } from '../../../src/desk/activity.ts';
import { membersIn } from '../../../src/proof/narrow.ts';
import { Fault, problemsIn } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { archiveOf } from '../context.ts';
import { actorOf, type Writer } from './write.ts';

/**
 * Records in the log of activity what the filing door refused to an agent, in a transaction of its own. If that fails,
 * the response is still the refusal.
 */
export function notesRefusals(writer: Writer, action: Action) {
  const { app, logger } = writer;
  return createMiddleware<PaperEnv>(async (c, next) => {
    await next();
    const key = c.get('key');
    if (key?.level !== 'agent' || !(c.error instanceof Fault)) return;
    const problems = problemsIn(c.error);
    if (problems === null) return;
    const subject = await subjectOf(writer, c);
    const actor = actorOf(writer, c, key);
    const at = { paper: key.paper, now: app.clock.now(), newId };
    try {
      await app.store.database.groupCommit(() =>
        recordRefusal(app.store.desk, at, actor, { action, subject, problems }),
      );
    } catch (error) {
      logger.warn({ request_id: c.get('requestId'), err: error }, 'a refused filing could not be noted');
    }
  });
}

/** The piece that the request names, or what the body of a new one calls it. */
async function subjectOf({ app }: Writer, c: PaperContext): Promise<Subject> {
  const name = c.req.param('id');
  const archive = archiveOf(app, c);
  const piece = name === undefined ? null : (archive.storyById(name) ?? archive.storyBySlug(name));
  if (piece !== null) return { kind: 'piece', id: piece.id };
  // The body was read, and the framework keeps it.
  const { slug, headline } = membersIn(await c.req.json().catch(() => null));
  return { kind: 'piece', id: null, slug: textOf(slug), title: textOf(headline) };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
