import { DatabaseSync } from 'node:sqlite';

/** Every text in a database, byte for byte. Throws for one that is not UTF-8. */
export function* storedTexts(file: string): Generator<{ where: string; text: string }> {
  const db = new DatabaseSync(file, { readOnly: true });
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'");
    for (const { name: table } of tables.all() as { name: string }[]) {
      const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[];
      for (const { name } of columns) {
        const where = `${table}.${name}`;
        const texts = db.prepare(
          `SELECT CAST("${name}" AS BLOB) AS bytes FROM "${table}" WHERE typeof("${name}") = 'text'`,
        );
        for (const { bytes } of texts.iterate() as Iterable<{ bytes: Uint8Array | null }>) {
          yield { where, text: utf8.decode(bytes ?? new Uint8Array()) };
        }
      }
    }
  } finally {
    db.close();
  }
}

/** Texts whose end a database might cut or change. Each begins with a unique mark. */
export function* hostileTexts(): Generator<string, never> {
  for (let n = 0; ; n++) {
    yield `hostile${n}:\0end`;
    yield `hostile${n}:\ud800end`;
    yield `hostile${n}:${'x'.repeat(65_536)}end`;
  }
}

/** A value with each of its texts replaced, one at a time, by a hostile one of each kind. */
export function* withHostileTexts(value: unknown, texts: Iterator<string, never>): Generator<unknown> {
  if (typeof value === 'string') for (let kind = 0; kind < 3; kind++) yield texts.next().value;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    for (const changed of withHostileTexts(member, texts)) {
      yield Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed };
    }
  }
}

/** Stored texts that have lost their hostile end, or that no column should hold. */
export function cutTexts(file: string): string[] {
  const cut: string[] = [];
  for (const { where, text } of storedTexts(file)) {
    if (text.includes('\0')) cut.push(`${where} holds U+0000: ${JSON.stringify(text.slice(0, 80))}`);
    for (const [begun] of text.matchAll(/hostile\d+:(?:x*end)?/g)) {
      if (!begun.endsWith('end') || begun.length < 65_536) cut.push(`${where}: ${text.slice(0, 80)}`);
    }
  }
  return cut;
}
