import { type Audit, auditAll } from '../audit/audit.ts';
import type { AuditParts } from '../audit/parts.ts';
import { loadBuild } from './build.ts';
import type { AppContext } from './context.ts';
import { pressPlan } from './press-run.ts';

interface AuditOptions {
  deep?: boolean | undefined;
  progress?: AuditParts['progress'];
}

/** Audits the database and the pressed trees of an app. */
export function auditApp(app: AppContext, { deep = false, progress = () => {} }: AuditOptions = {}): Promise<Audit> {
  const parts: AuditParts = {
    store: app.store,
    distDir: app.settings.distDir,
    mediaFile: app.media.pathOf,
    loadBuild,
    planOf: (paper, build) => pressPlan(app, paper, build),
    now: app.now,
    progress,
  };
  return auditAll(parts, { deep });
}
