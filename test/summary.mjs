// How a run ended, in few lines: the tests that failed, each with its place, and the files that took longest.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const LONGEST = 12;

/**
 * A reporter of Node's runner; it writes to the file TEST_SUMMARY. Of nested
 * tests the innermost is named: those around it failed because of it.
 */
export default async function* summary(events) {
  const failed = [];
  const unfinished = new Set();
  const seconds = new Map();
  // A runner that is ended waits for no reporter.
  process.once('exit', () => {
    const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, LONGEST);
    const lines = ['', 'longest:', ...longest.map(([file, took]) => `${took.toFixed(0).padStart(6)} s  ${file}`)];
    if (unfinished.size > 0) lines.push(`not finished: ${[...unfinished].join(', ')}`);
    lines.push(...(failed.length === 0 ? ['no test failed'] : [`${failed.length} failed:`, ...failed]));
    writeFileSync(process.env.TEST_SUMMARY, `${lines.join('\n')}\n`);
  });
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const file = relative('', data.file ?? data.name);
    if (data.nesting === 0) seconds.set(file, (seconds.get(file) ?? 0) + data.details.duration_ms / 1000);
    if (type === 'test:pass' || data.todo !== undefined) continue;
    const { failureType } = data.details.error ?? {};
    if (failureType === 'cancelledByParent') unfinished.add(file);
    else if (failureType !== 'subtestsFailed') failed.push(`✖ ${file}:${data.line ?? 0} ${data.name}`);
  }
}
