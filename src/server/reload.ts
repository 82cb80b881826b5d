import type { Settings } from './env.ts';

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
export type Reload = ReturnType<typeof reloadedSettings>;

/** Takes over what a running server can. `changed` are the names of the variables that differ. */
export function reloadedSettings(inForce: Settings, read: Settings, changed: readonly string[]) {
  const fieldOf = new Map<string, keyof Settings>(Object.entries(RELOADED));
  const fields = Object.values(RELOADED).map((field) => [field, read[field]]);
  // The lease stays in the store in which it was taken: in another one, another server may hold it.
  const isOfLease = (name: string) => inForce.leaseUrl !== null && fieldOf.get(name) === 'objectStorage';
  return {
    /** Those in force with those of `RELOADED` replaced. */
    settings: { ...inForce, ...Object.fromEntries(fields) },
    /** Changed variables that are in force now. */
    reloaded: changed.filter((name) => fieldOf.has(name)),
    /** Those that need a restart, wholly or for the lease. */
    restart: changed.filter((name) => !fieldOf.has(name) || isOfLease(name)),
  };
}
