import { after, before } from 'node:test';

/** The lifetime of a shared fixture. */
interface Scope {
  after(work: () => unknown): void;
}

/** A fixture that the tests of a file share, such as a server: opened before the first test, closed after the last. */
export function shared<T>(open: (t: Scope) => Promise<T>): () => T {
  const endings: (() => unknown)[] = [];
  let opened: T | undefined;
  before(async () => {
    opened = await open({ after: (work) => void endings.push(work) });
  });
  after(async () => {
    for (const end of endings) await end();
  });
  return () => {
    if (opened === undefined) throw new Error('it is not open yet');
    return opened;
  };
}
