import { readFileSync, writeFileSync } from 'node:fs';
import { protocolExamples } from './examples.ts';
import { withExamples } from './protocol-page.ts';

// Writes the examples of docs/protocol.md anew: `node test/protocol/write-examples.ts`.

const page = new URL('../../docs/protocol.md', import.meta.url);
writeFileSync(page, withExamples(readFileSync(page, 'utf8'), await protocolExamples()));
