/** An account's progress towards its first request. */
export interface FirstSteps {
  /** Whether a key is in force. */
  has_key: boolean;
  /** The first request with one of the account's keys. */
  arrived: Arrival | null;
  /** The first request that was answered and counted. */
  answered: Arrival | null;
  /** A watched hostname that was observed; null if there is none. */
  hostname: string | null;
  /** A command that can be run as shown. It contains the key if the key is known, else a shell variable for it. */
  command: string;
  has_key_in_command: boolean;
}

/** When a request came (ISO 8601, to the minute), and the name of the key it used. */
interface Arrival {
  at: string;
  key: string;
}

/**
 * A curl command that reads a hostname, or the list of hostnames if none is given. The header with `$KEY` is in double
 * quotes, because a shell expands variables only there.
 */
export function firstCommand(root: string, hostname: string | null, key: string | null): string {
  const header = key === null ? '"X-Service-Key: $KEY"' : `'X-Service-Key: ${key}'`;
  return `curl -H ${header} ${root}/v1/domains${hostname === null ? '' : `/${hostname}`}`;
}
