import type { AppContext } from '../../../src/app/context.ts';
import type { Charged, ReserveOutcome } from '../../../src/meter/meter-table.ts';

/** Who pays for a request: a key, or an account whose owner is signed in. */
export type Payer = Pick<Charged, 'account' | 'key'>;

const payerId = ({ account, key }: Payer): string => key ?? account;

/** Null when the account was deleted. */
type Outcome = ReserveOutcome | null;

/**
 * Charges requests. Those of one key that arrive together are charged at once, in one transaction: exactly as if they came
 * one after the other.
 */
export class Charges {
  readonly #app: Pick<AppContext, 'store' | 'settings' | 'now'>;
  readonly #waiting = new Map<string, PromiseWithResolvers<Outcome>[]>();

  constructor(app: Pick<AppContext, 'store' | 'settings' | 'now'>) {
    this.#app = app;
  }

  /** Resolves when the charge is on disk. */
  reserve(of: Payer): Promise<Outcome> {
    const request = Promise.withResolvers<Outcome>();
    const group = this.#waiting.get(payerId(of));
    if (group === undefined) this.#charge(of, [request]);
    else group.push(request);
    return request.promise;
  }

  #charge(of: Payer, group: PromiseWithResolvers<Outcome>[]): void {
    const { store, settings, now } = this.#app;
    const limits = { daily: settings.keyedDaily, perMinute: settings.keyedPerMinute };
    this.#waiting.set(payerId(of), group);
    const close = () => {
      if (this.#waiting.get(payerId(of)) === group) this.#waiting.delete(payerId(of));
    };
    store
      .groupCommit(() => {
        close();
        // The clock is read under the write lock, so that no other process is ahead of it.
        return store.meter.reserveAll({ ...of, at: now() }, group.length, limits);
      })
      .then(
        (outcomes) => {
          for (const [at, { resolve }] of group.entries()) resolve(outcomes?.[at] ?? null);
        },
        (error: unknown) => {
          close();
          for (const { reject } of group) reject(error);
        },
      );
  }
}
