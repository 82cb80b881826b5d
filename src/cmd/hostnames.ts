import type { Command } from 'commander';
import { readText } from '../operate/audit/verify-sources.ts';
import { expectationRow, knownNames, putExpectations } from '../records/declared-expectations.ts';
import { listed, ruleText } from '../records/expectation.ts';
import { DOCUMENT_MAX, readDocument } from '../records/expectation-document.ts';
import { parseHostname } from '../records/hostname.ts';
import { requireOwn } from '../records/nodes.ts';
import { optOutReason } from '../records/require-host.ts';
import { requireAccount } from '../records/service-keys.ts';
import type { AppContext } from '../server/context.ts';
import { caught, Fault, problemsIn } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

const SAID = {
  added: 'is under watch',
  already: 'was already under watch',
  resumed: 'is under watch again',
  opted_out: 'has opted out and is not probed',
};

export function watch(): Command {
  return new DataCommand('watch')
    .description('put hostnames under watch; they are probed at once')
    .argument('[hostname...]', 'such as example.org')
    .option('--expect <file>', 'what names should answer (expectations.yaml), for an account; they are watched too')
    .option('--account <email>', 'the account whose expectations the file replaces, and whose alerts tell')
    .option('--json', 'print the outcomes as JSON, with --expect {outcomes, expectations}')
    .onAnyData(
      async (
        app,
        names: string[],
        { expect, account, json }: { expect?: string; account?: string; json?: boolean },
      ) => {
        const { store, clock } = app;
        if (expect === undefined && names.length === 0) {
          throw new Fault('invalid_request', 'give hostnames, or a file of expectations with --expect');
        }
        const declared = expect === undefined ? null : await declaredIn(app, expect, account);
        const all = [...new Set([...names.map(parseHostname), ...(declared?.hosts ?? [])])];
        for (const name of all) requireOwn(app, name);
        const outcomes = all.length === 0 ? [] : store.records.watch(all, clock.now());
        if (declared !== null) putExpectations(app, declared.account.id, declared.expected);
        const expectations =
          declared === null
            ? []
            : store.records.expectations.ofAccount(declared.account.id).map((one) => expectationRow(app, one));
        printResult(json, declared === null ? outcomes : { outcomes, expectations }, [
          ...outcomes.map(({ hostname, outcome }) => `${hostname} ${SAID[outcome]}`),
          ...expectations.map(expectationLine),
        ]);
        const isWrong = expectations.some(({ state }) => state === 'unexpected');
        if (isWrong || outcomes.some(({ outcome }) => outcome === 'opted_out')) process.exitCode = 1;
      },
    );
}

/** The expectations in a file, and their account. Throws `invalid_request` with every problem, or `not_found`. */
async function declaredIn(app: AppContext, file: string, email: string | undefined) {
  if (email === undefined) {
    throw new Fault('invalid_request', '--expect goes with --account, the mail address of the account to alert');
  }
  const account = requireAccount(app.store, email);
  const text = await readText(file, 'a file of expectations, in YAML or JSON', 4 * DOCUMENT_MAX);
  const { hasOrigins } = knownNames(app);
  const refusal = (hostname: string) =>
    app.store.records.optOutOf(hostname) === null ? null : 'it opted out, so it is not watched; take it out';
  const expected = caught(Fault, () => readDocument(text, { hasOrigins, refusal }));
  if (expected instanceof Fault) {
    const problems = problemsIn(expected) ?? [];
    for (const { field, message } of problems.slice(1)) printError(`${field}: ${message}`);
    throw expected;
  }
  return { account, expected, hosts: Object.keys(expected).map(parseHostname) };
}

function expectationLine({ hostname, signal, expected, state, seen }: ReturnType<typeof expectationRow>): string {
  const is = { unknown: 'is not known yet', expected: 'is as expected', unexpected: 'is NOT as expected' }[state];
  const answer =
    state === 'unexpected' ? `: ${listed(seen ?? []) || 'no records'} instead of ${ruleText(expected)}` : '';
  return `${hostname} ${signal} ${is}${answer}`;
}

export function optOut(): Command {
  return new DataCommand('opt-out')
    .description('stop probing a hostname and its subdomains, and hide them everywhere; receipts stay')
    .argument('<hostname>', 'such as example.org')
    .requiredOption('--reason <text>', 'the reason, in one line')
    .option('--json', 'print {hostname, hidden}')
    .onAnyData((app, name: string, options: { reason: string; json?: boolean }) => {
      const reason = optOutReason(options.reason, '--reason');
      const host = parseHostname(name);
      requireOwn(app, host);
      const hidden = app.store.records.optOut(host, reason, 'cli', app.clock.now());
      printResult(options.json, { hostname: host.hostname, hidden }, [
        `${host.hostname} and its subdomains are opted out; ${plural(hidden.length, 'watched name')} hidden`,
      ]);
    });
}
