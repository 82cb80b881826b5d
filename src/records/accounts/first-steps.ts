/** How far an account has come on its way to its first request. */
export interface FirstSteps {
  /** Whether a key is in force. */
  has_key: boolean;
  /** Of the first request with a key of the account. */
  arrived: Arrival | null;
  /** Of the first request that was answered and counted. */
  answered: Arrival | null;
  /** A hostname that is watched and was observed; null where there is none. */
  hostname: string | null;
  /** A command that works now. The key is in it where it is known, else a variable that holds it. */
  command: string;
  has_key_in_command: boolean;
}

/** When a request came, in ISO 8601, to the minute, and the name of its key. */
interface Arrival {
  at: string;
  key: string;
}

/**
 * A command that reads a hostname. A shell expands a variable in double quotes alone. Without a hostname, the command
 * reads the list of them.
 */
export function firstCommand(root: string, hostname: string | null, key: string | null): string {
  const header = key === null ? '"X-Service-Key: $KEY"' : `'X-Service-Key: ${key}'`;
  return `curl -H ${header} ${root}/v1/domains${hostname === null ? '' : `/${hostname}`}`;
}
