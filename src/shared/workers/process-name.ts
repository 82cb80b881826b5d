import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../fault.ts';
import { textIn } from '../files/plain-file.ts';

/** Identifies the current boot of this machine; null on systems that do not. */
export const BOOT_ID = textIn('/proc/sys/kernel/random/boot_id')?.trim() || null;

/** This machine since its start, and its pid namespace: containers and copies of a machine may share a hostname. */
export const MACHINE = machine();

/** Distinguishes this process from an earlier one with the same pid: in a container, the pid is always 1. */
export const PROCESS = `${MACHINE}:${process.pid}:${randomBytes(6).toString('hex')}`;

function machine(): string {
  if (BOOT_ID === null) return hostname();
  try {
    return `${hostname()}/${BOOT_ID.slice(0, 8)}/${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')}`;
  } catch {
    return hostname();
  }
}

/** Whether the process of this name ran on this machine, and is dead. */
export function isDead(owner: string): boolean {
  const [host, pid] = owner.split(':');
  if (host !== MACHINE) return false;
  return Number(pid) === process.pid ? !owner.startsWith(`${PROCESS}:`) : !isAlive(Number(pid));
}

/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
