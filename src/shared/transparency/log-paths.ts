import { LogFault } from '../../proof/log/log-fault.ts';
import { parseTilePath } from '../../proof/log/tile.ts';
import { caught } from '../fault.ts';

/** The texts of a log besides its tiles: its signed head, the policy in force, and the key that signs its heads. */
export const LOG_TEXTS = ['checkpoint', 'policy', 'vkey'] as const;
export type LogText = (typeof LOG_TEXTS)[number];

export function isLogText(path: string): path is LogText {
  return (LOG_TEXTS as readonly string[]).includes(path);
}

/** Whether a path below a log's address is that of one of its files, whether or not the file exists yet. */
export function isLogPath(path: string): boolean {
  return isLogText(path) || !(caught(LogFault, () => parseTilePath(path)) instanceof LogFault);
}
