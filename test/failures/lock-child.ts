import Database from 'libsql';

// Another program, which holds the write lock of a database until its input ends.

const db = new Database(process.argv[2] ?? '');
db.exec('PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE');
process.stdout.write('held\n');
process.stdin.on('end', () => db.exec('ROLLBACK')).resume();
