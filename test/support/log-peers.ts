import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { freePort } from './free-port.ts';
import { loopback } from './loopback.ts';
import { until } from './program.ts';

/** Third-party programs, each run unmodified in its own folder. */

/** Why a test that needs these programs is skipped; false when all are there. */
export function without(...programs: string[]): string | false {
  // A Go program gets the time from the kernel, past libfaketime, and checks the times of requests.
  if (programs.includes('versitygw') && process.env.FAKETIME !== undefined) return 'has another clock than the test';
  const folders = (process.env.PATH ?? '').split(delimiter);
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  return missing.length > 0 && `needs ${missing.join(' and ')} on the PATH`;
}

/**
 * The path of the `fsck` that checks logs; null if it is not installed. Systems have another program of that name,
 * which checks disks.
 */
export const LOG_FSCK: string | null =
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'fsck'))
    .filter((program) => existsSync(program))
    .find((program) => spawnSync(program, ['--help'], { encoding: 'utf8' }).stderr.includes('storage_url')) ?? null;

/** A witness: its URL and its verifier keys. */
export interface PeerWitness {
  url: string;
  vkeys: string[];
}

/** The log that a witness follows. */
interface FollowedLog {
  origin: string;
  vkey: string;
}

/** Serves files by path, with their current content. */
export async function serveFiles(t: TestContext, files: ReadonlyMap<string, Uint8Array | string>): Promise<string> {
  const server = createServer((request, response) => {
    const file = files.get(decodeURIComponent((request.url ?? '/').slice(1)));
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  return `${await loopback(t, server)}/`;
}

/** Starts omniwitness with an Ed25519 key and an ML-DSA-44 key. */
export async function startOmniwitness(t: TestContext, folder: string, log: FollowedLog): Promise<PeerWitness> {
  const keys = [
    { file: 'ed25519', args: ['-origin', 'witness.example/omni'] },
    { file: 'mldsa44', args: ['-mldsa', '-origin', 'witness.example/omni-mldsa'] },
  ];
  for (const { file, args } of keys) {
    const out = ['-out_priv', join(folder, `${file}.sec`), '-out_pub', join(folder, `${file}.pub`)];
    execFileSync('generate_keys', [...args, ...out], { stdio: 'ignore' });
  }
  const logs = join(folder, 'logs.yaml');
  writeFileSync(logs, `Logs:\n  - Origin: ${log.origin}\n    URL: http://127.0.0.1:1/\n    PublicKey: ${log.vkey}\n`);
  const port = await freePort();
  await startServer(t, 'omniwitness', port, [
    ...['-logtostderr', '-listen', `127.0.0.1:${port}`, '-metrics_listen', ''],
    ...['-db_file', join(folder, 'omni.db'), '-additional_logs', logs],
    ...keys.flatMap(({ file }) => ['-private_key_path', join(folder, `${file}.sec`)]),
  ]);
  const vkeys = keys.map(({ file }) => readFileSync(join(folder, `${file}.pub`), 'utf8').trim());
  return { url: `http://127.0.0.1:${port}/`, vkeys };
}

/** Starts litewitness, whose key an ssh agent holds. */
export async function startLitewitness(t: TestContext, folder: string, log: FollowedLog): Promise<PeerWitness> {
  const [key, socket, db] = [join(folder, 'key'), join(folder, 'agent'), join(folder, 'lite.db')];
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  t.after(() => agent.kill());
  await until(() => (existsSync(socket) ? true : null));
  execFileSync('ssh-add', [key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' });
  const fingerprint = execFileSync('ssh-keygen', ['-lf', `${key}.pub`], { encoding: 'utf8' }).split(' ')[1] ?? '';
  const port = await freePort();
  const said = await startServer(t, 'litewitness', port, [
    ...['-db', db, '-name', 'witness.example/lite', '-ssh-agent', socket],
    ...['-key', fingerprint, '-listen', `127.0.0.1:${port}`],
  ]);
  const database = new DatabaseSync(db, { timeout: 10_000 });
  const empty = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
  database.prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)').run(log.origin, empty);
  database.prepare('INSERT INTO key (origin, key) VALUES (?, ?)').run(log.origin, log.vkey);
  database.close();
  const [, vkey] = await until(() => /(witness\.example\/lite\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+)/.exec(said()));
  return { url: `http://127.0.0.1:${port}/`, vkeys: [vkey ?? ''] };
}

/** Starts a server until the test ends, and waits until its port answers. Returns a reader of its output so far. */
async function startServer(t: TestContext, program: string, port: number, args: string[]): Promise<() => string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill());
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    return fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.arrayBuffer().then(() => true),
      () => null,
    );
  });
  return () => said;
}
