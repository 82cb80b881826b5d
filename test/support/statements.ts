import Database from 'libsql';

type Statement = Record<'run' | 'get' | 'all' | 'iterate', (...params: unknown[]) => unknown>;

const WAYS = ['run', 'get', 'all', 'iterate'] as const;

let ran: string[] | null = null;

/** Counts the statements of every connection of this process from now on, whatever is prepared later. */
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
 * The SQL statements that run while `work` does, in order. They are those of every connection of this process: have
 * nothing else run beside, such as the jobs of a server.
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
