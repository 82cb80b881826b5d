import { setTimeout as sleep } from 'node:timers/promises';
import { gatheredQueue } from '../../src/records/jobs/gathered-queue.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { startScan } from '../../src/records/jobs/scan-loop.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { probe, signal } from '../support/probes.ts';

// A scanner in a process of its own, with invented answers. Begins when told to, and tells which outcomes it was given.

const app = openAppContext(readSettings());
app.signer.open();
const prober = {
  async probe(hostname: string) {
    await sleep(2);
    return probe(hostname, Date.now(), { A: ['192.0.2.1'] });
  },
  resolver: { ask: async () => signal([]), servers: [], close() {} },
  close() {},
};
process.once('message', async () => {
  const observer = {
    onOutcomes: (outcomes: object[]) => void process.send?.(outcomes),
    onNoResolver() {},
    onFailure() {},
  };
  const queue = gatheredQueue(localQueue(app, `child:${process.pid}`));
  await startScan(queue, prober, observer, { atOnce: app.settings.scanAtOnce, once: true }).ended;
  app.close();
  process.disconnect?.();
});
process.send?.('ready');
