import type { AppContext } from '../../app/context.ts';
import { reloadedSettings } from '../../app/reload.ts';
import type { ServerLog } from '../../app/server-log.ts';
import { readSettingsAgain } from '../../env.ts';
import { Fault } from '../../fault.ts';
import { smtpOf } from '../../net/smtp.ts';
import type { Service } from './service.ts';

/** Reads the settings, the files that they name, and `content/` again. On a fault, everything stays as it is. */
export async function reload(app: AppContext, services: readonly Service[], logger: ServerLog): Promise<void> {
  try {
    const { settings, changed } = readSettingsAgain();
    const { reloaded, restart, settings: next } = reloadedSettings(app.settings, settings, changed);
    // Throws when the DKIM key cannot be read.
    smtpOf(next)?.close();
    app.settings = next;
    logger.level = next.logLevel;
    for (const service of services) await service.reload();
    logger.info({ reloaded }, 'reloaded the settings, the keys and lists that they name, and content/');
    if (restart.length > 0) logger.warn({ restart }, 'these settings change with a restart');
  } catch (error) {
    const reason = error instanceof Fault ? error.message : undefined;
    logger.error(reason === undefined ? { err: error } : { reason }, 'nothing was reloaded');
  }
}
