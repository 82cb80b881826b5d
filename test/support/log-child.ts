import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { ownPolicy, publishLog } from '../../src/signing/log/log-publication.ts';
import { openWitnesses } from '../../src/signing/log/open-witnesses.ts';
import { growLog } from './log-leaves.ts';

/**
 * Appends leaves in random batches up to the size in its argument, and has each head signed, cosigned and published,
 * like the log's job but without its lease and its pauses. Prints a line for each round. Ends when the whole log is
 * cosigned and published.
 */

const LOG = 'desk';
const [, , last] = process.argv;
const app = openAppContext(readSettings(process.env));
app.signer.open();
const key = openLogKey(app, LOG);
const policy = ownPolicy(app.settings);
const witnesses = openWitnesses(app, LOG, key, pino({ level: 'silent' }));
if (policy === null) throw new Error('LOG_POLICY is not set');
const tables = app.store.database.log;
while ((tables.newestCosigned(LOG, key.origin)?.size ?? 0) < Number(last)) {
  growLog(app, LOG, Math.min(Number(last), tables.size(LOG) + 1 + Math.floor(Math.random() * 700)));
  while (signHead(app, LOG, key) === 'more');
  witnesses.ask(policy);
  await publishLog(app, LOG, key, { isWhole: false, assertHeld() {} });
  process.stdout.write(`${tables.size(LOG)}\n`);
  await pause(Math.random() * 200);
}
await witnesses.settled();
await publishLog(app, LOG, key, { isWhole: true, assertHeld() {} });
app.close();
