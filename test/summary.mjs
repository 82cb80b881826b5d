// How a run ended, in few lines: the tests that failed, each with its place, and the files that took longest.
import { relative } from 'node:path';

const LONGEST = 12;

/**
 * Listens to the events of Node's runner. Returns a function that says how the run ended. Of nested tests the innermost
 * is named: those around it failed because of it.
 */
export default function summary(events) {
  const failed = [];
  const unfinished = new Set();
  const seconds = new Map();
  const note = (data, isFailed) => {
    // Of a group that test/plan.mjs made, each file is a suite that bears its name.
    const isGroup = data.nesting === 0 && data.file?.endsWith('.test.mjs') && data.name.endsWith('.test.ts');
    const file = isGroup ? data.name : relative('', data.file ?? data.name);
    if (data.nesting === 0) seconds.set(file, (seconds.get(file) ?? 0) + data.details.duration_ms / 1000);
    if (!isFailed || data.todo !== undefined) return;
    const { failureType } = data.details.error ?? {};
    if (failureType === 'cancelledByParent' || failureType === 'testAborted') unfinished.add(file);
    else if (failureType !== 'subtestsFailed') failed.push(`✖ ${file}:${data.line ?? 0} ${data.name}`);
  };
  events.on('test:pass', (data) => note(data, false));
  events.on('test:fail', (data) => note(data, true));
  return () => {
    const longest = [...seconds].sort(([, a], [, b]) => b - a).slice(0, LONGEST);
    const lines = ['', 'longest:', ...longest.map(([file, took]) => `${took.toFixed(0).padStart(6)} s  ${file}`)];
    if (unfinished.size > 0) lines.push(`not finished: ${[...unfinished].join(', ')}`);
    lines.push(...(failed.length === 0 ? ['no test failed'] : [`${failed.length} failed:`, ...failed]));
    return `${lines.join('\n')}\n`;
  };
}
