import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../../server/env.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { databaseFile } from '../../shared/files/data-folder.ts';
import { printError } from '../../shared/terminal/output.ts';
import { askReady } from '../doctor/running.ts';
import { programIn, runProgram, StagedInstall } from './staged-install.ts';

/** How long a server may take until it is ready, and how often it is asked, in ms. */
const READY_WITHIN = 300_000;
const ASK_EVERY = 500;

export interface UpgradeOrder {
  /** A version, a tag such as `latest`, or the absolute path of a tarball. */
  wanted: string;
  /** Shell commands: both, or neither. */
  stop: string | undefined;
  start: string | undefined;
  dryRun: boolean;
}

/**
 * Installs another version: says what it will change, stops the server, backs up, puts the new version in place, has it
 * upgrade the database, and starts the server. When a step fails, the old version and its data are put back. Returns
 * what was done, in lines. Throws `unavailable` with what failed and the resulting state. After the swap, child
 * processes do the work, because this process runs the replaced version.
 */
export async function upgrade(settings: Settings, folder: string, order: UpgradeOrder): Promise<string[]> {
  const install = StagedInstall.install(folder, order.wanted);
  const { installed, staged } = install;
  try {
    if (staged === installed) return [`broadsheet ${installed} is installed already; nothing was changed`];
    if (!runProgram(programIn(install.stage), folder, ['doctor', '--upgrade']))
      throw new Fault(
        'unavailable',
        `broadsheet ${staged} cannot upgrade this folder, as said above; nothing was changed`,
      );
    if (order.dryRun) return ['nothing was changed'];
    if (order.stop === undefined && (await isRunning(settings))) {
      const cure = "stop it first, or give --stop and --start, as in --stop 'systemctl stop broadsheet'";
      throw new Fault('unavailable', `a server runs here; ${cure}; nothing was changed`);
    }
    const attempt = new Attempt(settings, install, order);
    await attempt.run();
    const next = order.start === undefined ? 'start the server' : 'the server is ready';
    return [
      `upgraded from broadsheet ${installed} to ${staged}; ${next}`,
      ...(attempt.backup === null
        ? []
        : [`${attempt.backup} is the state before; it holds secrets, remove it in time`]),
    ];
  } finally {
    install.remove();
  }
}

const isRunning = async (settings: Settings) => ['starting', 'ready'].includes(await askReady(settings));

class Attempt {
  readonly #settings: Settings;
  readonly #install: StagedInstall;
  readonly #order: UpgradeOrder;
  /** The backup of the old version's data; null when there was no data. */
  backup: string | null = null;

  constructor(settings: Settings, install: StagedInstall, order: UpgradeOrder) {
    this.#settings = settings;
    this.#install = install;
    this.#order = order;
  }

  async run(): Promise<void> {
    const { installed, staged, folder } = this.#install;
    // Ctrl-C ends the child process of the current step, whose failure is undone like any other.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
    try {
      await this.#stop();
      if (existsSync(databaseFile(this.#settings))) this.#backUp(`before-broadsheet-${staged}-${Date.now()}.tar.zst`);
      this.#install.swap();
    } catch (error) {
      this.#shell(this.#order.start);
      throw error;
    }
    try {
      // Any command that opens the database upgrades it.
      if (this.backup !== null && !runProgram(programIn(folder), folder, ['paper', 'list']))
        throw new Fault('unavailable', `broadsheet ${staged} could not upgrade the database`);
      await this.#start();
    } catch (error) {
      printError(`broadsheet: ${messageOf(error)}; going back to ${installed}`);
      await this.#goBack();
      throw new Fault('unavailable', `broadsheet ${staged} failed, and ${installed} is back: ${messageOf(error)}`);
    }
  }

  async #stop(): Promise<void> {
    if (!this.#shell(this.#order.stop))
      throw new Fault('unavailable', `${this.#order.stop} failed; nothing was changed`);
    if (!(await isRunning(this.#settings))) return;
    throw new Fault('unavailable', `a server still runs after ${this.#order.stop}; nothing was changed`);
  }

  #backUp(file: string): void {
    const { folder } = this.#install;
    if (!runProgram(programIn(folder), folder, ['backup', file]))
      throw new Fault('unavailable', 'the backup failed, as said above; nothing was changed');
    this.backup = file;
  }

  async #start(): Promise<void> {
    const { start } = this.#order;
    if (start === undefined) return;
    if (!this.#shell(start)) throw new Fault('unavailable', `${start} failed`);
    const last = performance.now() + READY_WITHIN;
    while (!['ready', 'unknown'].includes(await askReady(this.#settings))) {
      if (performance.now() > last)
        throw new Fault('unavailable', `no server was ready ${READY_WITHIN / 1_000} s after ${start}`);
      await pause(ASK_EVERY);
    }
  }

  /** Restores the old version, and also its data if it cannot open the upgraded database. */
  async #goBack(): Promise<void> {
    const { folder, staged } = this.#install;
    const { dataDir } = this.#settings;
    this.#shell(this.#order.stop);
    this.#install.swap();
    if (this.backup !== null && !runProgram(programIn(folder), folder, ['paper', 'list'])) {
      const aside = `${dataDir}.of-${staged}`;
      const byHand = `empty ${dataDir} and run \`restore ${this.backup}\``;
      try {
        renameSync(dataDir, aside);
      } catch (error) {
        throw new Fault('unavailable', `the old version is back without its data (${messageOf(error)}); ${byHand}`);
      }
      if (!runProgram(programIn(folder), folder, ['restore', this.backup]))
        throw new Fault('unavailable', `the old version is back, and the backup could not be restored; ${byHand}`);
      printError(`the data are those of ${this.backup}; what ${staged} made of them is in ${aside}`);
    }
    await this.#start();
  }

  #shell(command: string | undefined): boolean {
    return command === undefined || spawnSync(command, { shell: true, stdio: ['ignore', 2, 2] }).status === 0;
  }
}
