import Database from 'libsql';

type Statement = Record<'run' | 'get' | 'all' | 'iterate', (...params: unknown[]) => unknown>;

const WAYS = ['run', 'get', 'all', 'iterate'] as const;

let ran: string[] | null = null;

/** Watches the statements of every connection of this process from now on, including those prepared later. */
function watch(): void {
  const prepare = Database.prototype.prepare;
  Database.prototype.prepare = function (this: InstanceType<typeof Database>, text: string) {
    const statement = prepare.call(this, text);
    const own = statement as unknown as Statement;
    for (const way of WAYS) {
      const run = own[way];
      own[way] = (...params) => {
        ran?.push(text);
        return run.apply(statement, params);
      };
    }
    return statement;
  } as typeof prepare;
}
watch();

/**
 * The SQL statements that run during `work`, in order, of every connection of this process: nothing else, such as the
 * jobs of a server, may run at the same time.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const list: string[] = [];
  ran = list;
  try {
    await work();
  } finally {
    ran = null;
  }
  return list;
}
