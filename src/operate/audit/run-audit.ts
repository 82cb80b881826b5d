import { pressPlan } from '../../desk/jobs/press-run.ts';
import { loadBuild } from '../../desk/press/build.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { LogFault } from '../../proof/log/log-fault.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { logFolder } from '../../signing/log/log-files.ts';
import { readLogKey } from '../../signing/log/log-key.ts';
import { publishedPolicy } from '../../signing/log/log-publication.ts';
import { type Audit, auditAll } from './audit.ts';
import type { AuditedLog, AuditParts } from './parts.ts';

/** Audits the database and the pressed trees of an app. */
export function auditApp(
  app: AppContext,
  { progress = () => {}, ...options }: Parameters<typeof auditAll>[1] & { progress?: AuditParts['progress'] } = {},
): Promise<Audit> {
  const parts: AuditParts = {
    store: app.store,
    distDir: app.settings.distDir,
    mediaFile: app.store.media.pathOf,
    // The press's cache may itself be wrong.
    pictures: {
      ...app.store.pictures,
      portrait: async (portrait) => (await import('../../media/draw-portrait.ts')).drawPortrait(portrait),
    },
    loadBuild,
    planOf: (paper, build) => pressPlan(app, paper, build),
    auditedLog: (log) => auditedLog(app, log),
    now: app.clock.now,
    progress,
  };
  return auditAll(parts, options);
}

/** A transparency log as an audit takes it. */
export function auditedLog({ settings, store }: AppContext, log: LogService): AuditedLog {
  const folder = logFolder(settings.logDir, log);
  const unknown = { log, folder, verifier: null, texts: {}, key_fault: null };
  try {
    const key = readLogKey({ settings, store }, log);
    if (key === null) return unknown;
    const verifier = { origin: key.origin, publicKey: key.signer.publicKey };
    const texts = { vkey: `${key.vkey}\n`, policy: publishedPolicy(settings, log, key) };
    return { ...unknown, verifier, texts };
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof LogFault)) throw error;
    return { ...unknown, key_fault: error.message };
  }
}
