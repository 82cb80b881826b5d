import { readSources } from '../../src/desk/jobs/evidence-job.ts';
import { sourceReader } from '../../src/desk/sources/source-reader.ts';
import { textPool } from '../../src/desk/sources/text-pool.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';

/** Reads the sources that are due at the time `AT`, and blocks once both files of one are on disk. */
const app = openAppContext(readSettings(process.env));
app.clock.now = () => Number(process.env.AT);
app.signer.open();
let left = 2;
const { keepBytes } = app.store.media;
app.store.media.keepBytes = (digest, bytes) => {
  keepBytes(digest, bytes);
  if (--left > 0) return;
  process.stdout.write('kept\n', () => {});
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
const options = { agent: 'test', allows: () => true, resolve: async () => ['127.0.0.1'], hostPause: 0 };
await readSources(app, { read: sourceReader(options), texts: textPool() }, null);
