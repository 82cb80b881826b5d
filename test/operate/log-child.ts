import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { publishLog } from '../../src/signing/log/log-publication.ts';
import { growLog } from '../support/log-leaves.ts';

// A process of its own, which a test kills: it grows the log of the records to a size, in batches, and signs and
// publishes it after each of them.

const [size = '', batch = ''] = process.argv.slice(2);
const app = openAppContext(readSettings());
const key = openLogKey(app, 'records');
process.stdout.write('ready\n');
do {
  growLog(app, 'records', Math.min(Number(size), app.store.database.log.size('records') + Number(batch)));
  while (signHead(app, 'records', key) === 'more');
  await publishLog(app, 'records', key, { isWhole: false, assertHeld() {} });
} while (app.store.database.log.size('records') < Number(size));
app.close();
