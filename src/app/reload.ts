import type { Settings } from '../env.ts';

/** The settings that a running server takes over, by the variable that sets them. Any other needs a restart. */
const RELOADED = {
  LOG_LEVEL: 'logLevel',
  SMTP_URL: 'smtpUrl',
  MAIL_FROM: 'mailFrom',
  MAILS_PER_MINUTE: 'mailsPerMinute',
  DKIM_KEY_FILE: 'dkim',
  DKIM_SELECTOR: 'dkim',
  LOG_POLICY: 'logPolicy',
  PUBLISH_URL: 'publishUrl',
  AWS_ACCESS_KEY_ID: 'objectStorage',
  AWS_SECRET_ACCESS_KEY: 'objectStorage',
  AWS_SESSION_TOKEN: 'objectStorage',
  AWS_REGION: 'objectStorage',
  AWS_ENDPOINT_URL_S3: 'objectStorage',
  AWS_ENDPOINT_URL: 'objectStorage',
  SHUTDOWN_GRACE: 'shutdownGrace',
} as const satisfies Record<string, keyof Settings>;

/** What a reload does to the settings. */
export interface Reload {
  /** The settings in force with those of `RELOADED` replaced. */
  settings: Settings;
  /** Changed variables that are in force now, and those that need a restart. */
  reloaded: string[];
  restart: string[];
}

/** Takes over what a running server can. `changed` are the names of the variables that differ. */
export function reloadedSettings(inForce: Settings, read: Settings, changed: readonly string[]): Reload {
  const names = new Set(Object.keys(RELOADED));
  const fields = Object.values(RELOADED).map((field) => [field, read[field]]);
  return {
    settings: { ...inForce, ...Object.fromEntries(fields) },
    reloaded: changed.filter((name) => names.has(name)),
    restart: changed.filter((name) => !names.has(name)),
  };
}
