import { existsSync } from 'node:fs';
import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { openAppContext } from '../app/context.ts';
import { checkAddresses } from '../app/doctor/addresses.ts';
import type { Finding } from '../app/doctor/finding.ts';
import { checked, holds } from '../app/doctor/finding.ts';
import { checkHosts } from '../app/doctor/hosts.ts';
import { checkHere, databaseFile } from '../app/doctor/machine.ts';
import { checkNetwork } from '../app/doctor/network.ts';
import { proxy } from '../app/doctor/proxy.ts';
import { counted } from '../counted.ts';
import type { Settings } from '../env.ts';
import { readSettings } from '../env.ts';
import { say } from './run.ts';

const MARKS: Record<Finding['state'], string> = { holds: 'ok   ', open: '-    ', fault: 'FAULT' };

export function command(): Command {
  return new Command('doctor')
    .description(
      'check the settings, the database, the keys, the disk, mail, resolvers and payments, and say what to do',
    )
    .option('--json', 'print the findings as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine();
      const faults = findings.filter(({ state }) => state === 'fault').length;
      say(json, { healthy: faults === 0, findings }, [...findings.flatMap(lines), counted(faults, 'fault')]);
      if (faults > 0) process.exitCode = 1;
    });
}

async function examine(): Promise<Finding[]> {
  let settings: Settings | undefined;
  const first = await checked('settings', () => {
    settings = readSettings();
    return holds('all can be read');
  });
  if (settings === undefined) return [first];
  return [first, ...(await checkAll(settings))];
}

async function checkAll(settings: Settings): Promise<Finding[]> {
  let app: AppContext | null = null;
  const network = checkNetwork(settings);
  const opened = await checked('database', () => {
    // Looking must not make one.
    if (existsSync(databaseFile(settings))) app = openAppContext(settings);
    return holds('it can be opened');
  });
  try {
    const here = await checkHere(settings, app);
    // A database that cannot be opened is not one that is not there.
    if (opened.state === 'fault') here[0] = opened;
    const hosts = settings.services.desk ? await checkHosts(app) : [];
    return [
      ...here,
      ...(await checkAddresses(settings, app)),
      ...hosts,
      await checked('proxy', () => proxy(settings, app)),
      ...(await network),
    ];
  } finally {
    (app as AppContext | null)?.close();
  }
}

function lines({ name, state, found, cure }: Finding): string[] {
  return [`${MARKS[state]} ${name}: ${found}`, ...(cure === undefined ? [] : [`      ${cure}`])];
}
