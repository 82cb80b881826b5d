// A server that outlives the process that started it would block the ports of the next server. Most parents pass
// signals on, but one killed with SIGKILL cannot, and npm's shell does not.
import { readFileSync } from 'node:fs';

/** How often the parent is checked, in ms: Node has no event for its exit. */
const CHECK_EVERY = 200;

/** Sends this process SIGTERM when the process that started it in the foreground ends. */
export function endWithParent(): void {
  // Started by another Node process: see bin/broadsheet.mjs.
  if (process.channel !== undefined) {
    process.once('disconnect', end);
    // The listener must not keep a finished command running.
    process.channel.unref();
    return;
  }
  // biome-ignore lint/style/noProcessEnv: not our setting, but npm's variable for its scripts.
  if (!isNpmsOwn(process.env.npm_lifecycle_script)) return;
  const started = parents();
  const timer = setInterval(() => {
    if (parents() === started) return;
    clearInterval(timer);
    end();
  }, CHECK_EVERY).unref();
}

/** Whether npm runs this program alone: a server that a script starts in the background outlives the script. */
function isNpmsOwn(script = ''): boolean {
  return /\bbroadsheet\b/.test(script) && !/[&|;\n]|\b(nohup|setsid)\b/.test(script);
}

/** The pids of the parent and, if that is a shell, of its parent npm: the shell can outlive npm. */
function parents(): string {
  const parent = process.ppid;
  try {
    // "pid (name) state parent …": see proc(5). Without /proc only the parent is known.
    const [, name = '', above] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, 'utf8')) ?? [];
    return /^(ba|da|a|k|z)?sh$/.test(name) ? `${parent} of ${above}` : `${parent}`;
  } catch {
    return `${parent}`;
  }
}

function end(): void {
  process.kill(process.pid, 'SIGTERM');
}
