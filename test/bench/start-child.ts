import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import Database from 'libsql';

// The least that a server with a database does before it listens: one route, one row.

const db = new Database(process.argv[2] ?? '');
db.exec('PRAGMA journal_mode = WAL');
const tables = db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get();
const app = new Hono();
app.get('/', (c) => c.json(tables));
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  process.stdout.write(`ready http://127.0.0.1:${port}\n`),
);
