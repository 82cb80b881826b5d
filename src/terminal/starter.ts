// A server that outlives the process that started it holds the ports of the next one. Most starters pass signals
// on; one that is killed with SIGKILL cannot, nor does a shell that npm put between.
import { readFileSync } from 'node:fs';

/** How often the starter is looked at, in ms: Node has no event for its end. */
const LOOK_EVERY = 200;

/** Ends this process as SIGTERM does when the process that started it in the foreground is gone. */
export function endWithStarter(): void {
  // Another Node handed over to this one: see bin/broadsheet.mjs.
  if (process.channel !== undefined) {
    process.once('disconnect', end);
    // Listening must not keep a command running that is done.
    process.channel.unref();
    return;
  }
  // biome-ignore lint/style/noProcessEnv: no setting of ours, but npm's own word to what it runs.
  if (!isNpmsOwn(process.env.npm_lifecycle_script)) return;
  const started = starters();
  const timer = setInterval(() => {
    if (starters() === started) return;
    clearInterval(timer);
    end();
  }, LOOK_EVERY).unref();
}

/**
 * Whether npm runs this program and nothing else, in the foreground (`npm start`, `npm run -s broadsheet -- …`): then the
 * parent is npm or its shell. A server that a script leaves in the background is to stay when the script ends.
 */
function isNpmsOwn(script = ''): boolean {
  return /\bbroadsheet\b/.test(script) && !/[&|;\n]|\b(nohup|setsid)\b/.test(script);
}

/** The pids of the parent and, where that is a shell, of npm behind it: the shell alone outlives npm. */
function starters(): string {
  const parent = process.ppid;
  try {
    // "pid (name) state parent …": see proc(5). Systems without /proc have the parent alone.
    const [, name = '', above] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, 'utf8')) ?? [];
    return /^(ba|da|a|k|z)?sh$/.test(name) ? `${parent} of ${above}` : `${parent}`;
  } catch {
    return `${parent}`;
  }
}

function end(): void {
  process.kill(process.pid, 'SIGTERM');
}
