import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../fault.ts';

/** This machine since its start, and its pid namespace: containers and copies of a machine may share a hostname. */
export const MACHINE = machine();

/** Distinguishes this process from an earlier one with the same pid: in a container, the pid is always 1. */
export const PROCESS = `${MACHINE}:${process.pid}:${randomBytes(6).toString('hex')}`;

function machine(): string {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    return `${hostname()}/${start}/${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')}`;
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
