import type { LogService } from '../../src/proof/log/leaf.ts';
import type { AppContext } from '../../src/server/context.ts';

/** A leaf as that of a draft; each number gives another one. */
export function testLeaf(number: number): string {
  return `receipt-hash/v1\nsha256:${number.toString(16).padStart(64, '0')}\n`;
}

/** Appends leaves up to a size, in one transaction. */
export function growLog({ store }: Pick<AppContext, 'store'>, log: LogService, size: number): void {
  store.database.transact(() => {
    for (let at = store.database.log.size(log); at < size; at++) store.database.log.append(log, testLeaf(at));
  });
}
