import { Command } from 'commander';
import { allowProof, ownedRow, revokeProof } from '../records/owners.ts';
import { optOutReason } from '../records/require-host.ts';
import { requireAccount } from '../records/service-keys.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('owner')
    .description('accounts that proved that a name is theirs')
    .addCommand(list())
    .addCommand(revoke())
    .addCommand(allow());
}

function list(): Command {
  return new DataCommand('list')
    .description('list the names that accounts prove, with the state of each proof')
    .option('--json', 'print {email, hostname, state, way, proven_at, next_check_at, revoked_for} for each')
    .onData((app, { json }: { json?: boolean }) => {
      const { records } = app.store;
      const rows = records.owners.all().map((proof) => {
        const { hostname, state, way, proven_at, next_check_at, revoked_for } = ownedRow(app, proof);
        const email = records.accounts.find(proof.account)?.email ?? '';
        return { email, hostname, state, way, proven_at, next_check_at, revoked_for };
      });
      const lines = rows.map(({ email, hostname, state, way, proven_at }) =>
        [hostname.padEnd(32), state.padEnd(9), (way ?? '').padEnd(5), proven_at ?? ''.padEnd(24), email].join(' '),
      );
      printResult(json, rows, lines.length === 0 ? ['no account proves a name'] : lines);
    });
}

function revoke(): Command {
  return new DataCommand('revoke')
    .description('end an account’s proof of a name, hide its notes, and accept no new proof until allowed')
    .argument('<email>', 'the address that the account signs in with')
    .argument('<hostname>', 'the proven name, such as example.org')
    .requiredOption('--reason <text>', 'the reason, in one line, which the account reads')
    .option('--json', 'print {email, hostname, state, revoked_for}')
    .onData((app, email: string, name: string, options: { reason: string; json?: boolean }) => {
      const reason = optOutReason(options.reason, '--reason');
      const account = requireAccount(app.store, email);
      const { hostname, state, revoked_for } = ownedRow(app, revokeProof(app, account.id, name, reason));
      printResult(options.json, { email: account.email, hostname, state, revoked_for }, [
        `the proof of ${hostname} by ${account.email} is revoked; its opt-outs stay in force`,
      ]);
    });
}

function allow(): Command {
  return new DataCommand('allow')
    .description('let an account prove a name again whose proof was revoked')
    .argument('<email>', 'the address that the account signs in with')
    .argument('<hostname>', 'the name, such as example.org')
    .option('--json', 'print {email, hostname, state}')
    .onData((app, email: string, name: string, options: { json?: boolean }) => {
      const account = requireAccount(app.store, email);
      const { hostname, state } = ownedRow(app, allowProof(app, account.id, name));
      printResult(options.json, { email: account.email, hostname, state }, [
        `${account.email} may prove ${hostname} again`,
      ]);
    });
}
