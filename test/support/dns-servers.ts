import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../../src/records/probe/dns/upstream.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { freePort } from './free-port.ts';

/** How long a server may take to answer first, in ms. */
const PATIENCE = 60_000;
const HOST = '127.0.0.1';
/** Debian installs servers in folders that only root has on its PATH. */
const ENVIRONMENT = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/**
 * Why tests that need real servers are skipped; false when they run. With NEED_SERVERS, as in CI, a missing server
 * makes them fail.
 */
export const WITHOUT_SERVERS =
  process.env.NEED_SERVERS === undefined && ['knotd', 'unbound'].some((program) => !isHere(program))
    ? 'needs knotd and unbound (Debian: knot, unbound)'
    : false;

function isHere(program: string): boolean {
  return (ENVIRONMENT.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/** A server process that belongs to the test. */
export interface DnsServer extends Server {
  /** Stops the process, whatever its state. */
  stop(): Promise<void>;
}

export interface Zone {
  /** Without the trailing dot. */
  name: string;
  /** Lines of a zone file, which follow its SOA and NS records. */
  lines: readonly string[];
  /** The name server, if it is not the host `ns` of this zone. */
  ns?: string;
  /** Whether knot signs the zone, with its own key. */
  signed?: boolean;
}

/** Starts Knot DNS with these zones, in its own folder. */
export async function startKnot(folder: string, zones: readonly Zone[]): Promise<DnsServer> {
  const port = await freePort();
  mkdirSync(join(folder, 'run'), { recursive: true });
  for (const zone of zones) writeZone(folder, zone, 1);
  const conf = `server:
  rundir: "${folder}/run"
  listen: ${HOST}@${port}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: "${folder}"
log:
  - target: stderr
    any: warning
policy:
  - id: quick
    algorithm: ecdsap256sha256
    single-type-signing: on
template:
  - id: default
    storage: "${folder}"
    zonefile-sync: -1
    journal-content: none
    zonefile-load: whole
zone:
${zones.map(({ name, signed }) => `  - domain: "${name}."\n    file: "${name}.zone"\n${signed ? '    dnssec-signing: on\n    dnssec-policy: quick\n    journal-content: all\n    zonefile-load: difference\n' : ''}`).join('')}`;
  const file = join(folder, 'knot.conf');
  writeFileSync(file, conf);
  return started(
    'knotd',
    ['-c', file],
    port,
    zones.map(({ name }) => name),
  );
}

function writeZone(folder: string, { name, lines, ns }: Zone, serial: number): void {
  const apex = [
    `$ORIGIN ${name}.`,
    `@ 300 IN SOA ns.${name}. hostmaster.${name}. ${serial} 3600 600 86400 300`,
    `@ 300 IN NS ${ns ?? `ns.${name}`}.`,
    ...(ns === undefined ? [`ns 300 IN A ${HOST}`] : []),
  ];
  writeFileSync(join(folder, `${name}.zone`), `${[...apex, ...lines].join('\n')}\n`);
}

/** Replaces the contents of zones on a running knot. The serial must be higher than before. */
export function reloadKnot(folder: string, zones: readonly Zone[], serial: number): void {
  if (zones.length === 0) return;
  for (const zone of zones) writeZone(folder, zone, serial);
  const names = zones.map(({ name }) => `${name}.`);
  execFileSync('knotc', ['-b', '-c', join(folder, 'knot.conf'), 'zone-reload', ...names], {
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The data of the DS records that delegate to a zone signed by knot. Its server must have run in this folder. */
export function delegationSigners(folder: string, zone: string): string[] {
  const printed = execFileSync('keymgr', ['-c', join(folder, 'knot.conf'), `${zone}.`, 'ds'], { env: ENVIRONMENT });
  return printed
    .toString()
    .split('\n')
    .filter((line) => / DS \d+ \d+ 2 /.test(line))
    .map((line) =>
      line
        .replace(/^.* DS /, '')
        .trim()
        .toUpperCase(),
    );
}

export interface UnboundWish {
  zones: readonly string[];
  server: Server;
  anchors: readonly string[];
  /** The server is ready when it answers for this zone; by default the first one. */
  first?: string;
}

/**
 * Starts Unbound, which validates from these trust anchors (lines of a zone file). It forwards these zones and
 * everything else to one server, so that no query leaves this machine.
 */
export async function startUnbound(
  folder: string,
  { zones, server, anchors, first = zones[0] ?? '' }: UnboundWish,
): Promise<DnsServer> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const conf = `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: "${folder}/unbound.pid"
  use-syslog: no
  verbosity: 0
  interface: ${HOST}@${port}
  num-threads: 1
  do-ip6: no
  do-not-query-localhost: no
  outgoing-interface: ${HOST}
  module-config: "validator iterator"
${anchors.map((anchor) => `  trust-anchor: "${anchor}"\n`).join('')}remote-control:
  control-enable: no
${['', ...zones].map((zone) => `stub-zone:\n  name: "${zone}."\n  stub-addr: ${server.address}@${server.port}\n`).join('')}`;
  const file = join(folder, 'unbound.conf');
  writeFileSync(file, conf);
  return started('unbound', ['-d', '-c', file], port, [first]);
}

/** Starts a program and waits until it answers for every zone. */
async function started(program: string, args: string[], port: number, zones: readonly string[]): Promise<DnsServer> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: ENVIRONMENT,
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-4_000);
  });
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(`ended with ${code ?? signal}`));
  });
  const server = {
    address: HOST,
    port,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
  const client = createResolver({ servers: [server], tries: 1, firstWait: 200 });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
  }, PATIENCE);
  let end: string | null = null;
  ended.then((how) => {
    end = how;
  });
  try {
    for (const zone of zones) {
      while ((await client.ask(zone, 'SOA')).status !== 'ok') {
        if (end !== null || isLate)
          throw new Error(`${program} does not answer for ${zone}: ${end ?? 'too late'}\n${output}`);
        await new Promise((done) => setTimeout(done, 20));
      }
    }
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    clearTimeout(late);
    client.close();
  }
}
