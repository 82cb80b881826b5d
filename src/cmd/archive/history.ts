import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { type VerifyingKey, vkey } from '../../proof/keyring.ts';
import { parseNote } from '../../proof/note.ts';
import { EvidenceText } from '../../proof/records/evidence.ts';
import { fullRecordOf } from '../../proof/records/preview.ts';
import { parseObservation } from '../../proof/records/receipt.ts';
import { archivesIn, historyIn, type NodeHistory } from '../../records/archive/all-nodes.ts';
import { parseHostname } from '../../records/hostname.ts';
import { readSettings } from '../../server/env.ts';
import { Fault } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { openWholeArchive } from '../../shared/storage/archive-place.ts';
import { printResult } from '../../shared/terminal/output.ts';

export function archiveHistory(): Command {
  return new Command('history')
    .description('show what the archives of all nodes have about a name, without a database')
    .argument('<name>', 'such as example.org')
    .option('--evidence <folder>', 'write the evidence of each node to a file there')
    .option('--json', 'print the whole records as JSON')
    .addHelpText(
      'after',
      '\nReads ARCHIVE_URL, with the credentials of its seeds. Each manifest is checked by its own keys; check the evidence\nwith `verify FILE --keys https://NODE/.well-known/records-keys.json`. Shows what opted out and was not erased.',
    )
    .action(async (text: string, { evidence, json }: { evidence?: string; json?: boolean }) => {
      const name = parseHostname(text);
      const place = openWholeArchive(readSettings());
      if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it to a bucket or a folder');
      const histories = await historyIn(await archivesIn(place), name);
      const files = evidence === undefined ? [] : await writeEvidence(resolve(evidence), name.hostname, histories);
      printResult(json, { domain: name.hostname, nodes: histories.map(nodeRow), records: records(histories), files }, [
        ...histories.flatMap(lines),
        ...files.map((file) => `wrote ${file}`),
        ...(histories.length === 0 ? [`the archive has no observation of ${name.hostname}`] : []),
      ]);
      if (histories.length === 0) process.exitCode = 1;
    });
}

function nodeRow({ archive: { node, manifest, keys }, observations }: NodeHistory) {
  const [first] = observations;
  return {
    node,
    generation: manifest.said.generation,
    signed_at: manifest.said.signed_at,
    keys: keys.map(({ name, publicKey }: VerifyingKey) => vkey(name, publicKey)),
    observations: observations.length,
    /** The hash of the receipt before the first observation; null if that began the chain. */
    prev: parseObservation(parseNote(first?.receipt ?? '')?.text ?? '')?.prev ?? null,
  };
}

/** The records of all nodes, oldest first. */
function records(histories: NodeHistory[]) {
  return histories
    .flatMap(({ archive: { node }, observations }) => observations.map((one) => ({ node, ...fullRecordOf(one) })))
    .sort((a, b) => (a.observed_at < b.observed_at ? -1 : 1));
}

function lines(history: NodeHistory): string[] {
  const { node, observations, prev, signed_at } = nodeRow(history);
  const begins = prev === null ? 'its chain begins here' : `its chain follows ${prev}`;
  return [
    `${node === null ? 'the archive' : `node ${node}`}: ${plural(observations, 'observation')}, manifest of ${signed_at}; ${begins}`,
    ...history.observations.map((one) => {
      const { seq, observed_at, signals } = fullRecordOf(one);
      const values = Object.entries(signals).flatMap(([type, { values }]) =>
        values.length === 0 ? [] : [`${type}=${values.join(',')}`],
      );
      return `${observed_at}  no. ${seq}  ${values.join(' ')}`;
    }),
  ];
}

async function writeEvidence(folder: string, hostname: string, histories: NodeHistory[]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const { archive, observations } of histories) {
    const text = new EvidenceText(hostname, archive.keys, () => null, archive.manifest.clock);
    const file = join(folder, `${hostname}${archive.node === null ? '' : `.${archive.node}`}.evidence.json`);
    const body = observations.map((one) => text.recordOf(one)).join('');
    await writeFile(file, `${text.begin}${body}${text.end()}`, { mode: 0o600 });
    files.push(file);
  }
  return files;
}
