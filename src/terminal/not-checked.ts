/** The exit code when something could not be checked: no such file, no response, no keys, no policy. */
export const NOT_CHECKED = 2;

/** For `exitOverride`: commander exits with 1 for invalid usage, but in a command that checks, 1 means a fault. */
export function exitUnchecked({ exitCode }: { exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : NOT_CHECKED);
}
