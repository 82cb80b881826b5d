import { createServer, type ServerResponse } from 'node:http';
import { sha256 } from '../../src/proof/basis.ts';
import { toBase64url } from '../../src/proof/bytes.ts';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { thumbprint } from '../../src/proof/keyring.ts';
import { leafText } from '../../src/proof/log/leaf.ts';
import type { Receipt } from '../../src/proof/receipt.ts';
import { type Signer, signReceipt } from '../../src/proof/signing.ts';
import { isoTime } from '../../src/proof/time.ts';
import type { Scope } from './app-context.ts';
import { MemoryLog } from './log.ts';
import { loopback } from './loopback.ts';

/** The time from which the test desk's first key signs, in ms; its receipts follow minute by minute. */
export const START = Date.UTC(2026, 5, 1);
const MINUTE = 60_000;

/** A desk's log in memory, with the leaves that a desk writes. */
export class DeskLog extends MemoryLog {
  signer: Signer;
  /** Counts filings and sets their times. */
  seq = 0;

  constructor(origin = 'papers.example/log', byte = 3, keyByte = 11) {
    super(origin, byte);
    this.signer = deskSigner(keyByte);
  }

  get kid(): string {
    return thumbprint(this.signer.publicKey);
  }

  now(): number {
    return START + this.seq * MINUTE;
  }

  addKey(signer = this.signer, nbf = this.now()): void {
    this.signer = signer;
    const { publicKey } = signer;
    const x = toBase64url(publicKey);
    this.append([leafText({ kind: 'key', service: 'desk', kid: thumbprint(publicKey), x, nbf: isoTime(nbf) })]);
  }

  retireKey(kid = this.kid, at = this.now()): void {
    this.append([leafText({ kind: 'key-retired', service: 'desk', kid, retired_at: isoTime(at) })]);
  }

  /** A signed receipt of the next filing. */
  receipt(piece: string, more: Partial<Receipt> = {}, signer = this.signer): string {
    const seq = ++this.seq;
    const receipt: Receipt = {
      paper: 'tide-table',
      piece,
      revision: 1,
      content_hash: sha256(`${piece} ${seq}`),
      prev: null,
      seq,
      filed_at: isoTime(this.now()),
      filed_by: 'cli',
      kid: thumbprint(signer.publicKey),
      ...more,
    };
    return signReceipt(receipt, signer).note;
  }

  /** Logs a filing, and returns its receipt. */
  publish(piece: string, more: Partial<Receipt> = {}, signer = this.signer): string {
    const note = this.receipt(piece, more, signer);
    this.append([note]);
    return note;
  }

  withdraw(piece: string, reason = 'It was wrong.'): void {
    const at = isoTime(this.now());
    this.append([leafText({ kind: 'withdrawal', paper: 'tide-table', piece, at, reason: sha256(reason) })]);
  }
}

export function deskSigner(byte: number): Signer {
  return signerFrom('desk.example/door', new Uint8Array(32).fill(byte));
}

/** A server of files by path, which a test may change at any time. A function answers in its own way. */
export interface FileSite {
  url: string;
  files: Map<string, Uint8Array | string | ((response: ServerResponse) => void)>;
  /** The paths that were asked for. */
  asked: string[];
}

export async function fileSite(t: Scope, files: FileSite['files'] = new Map()): Promise<FileSite> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1);
    asked.push(path);
    const file = files.get(path);
    if (typeof file === 'function') return void file(response);
    response.statusCode = file === undefined ? 404 : 200;
    response.end(file ?? 'not found');
  });
  return { url: `${await loopback(t, server)}/`, files, asked };
}

/** Publishes the present state of a log under a path of a site. */
export function publishLog({ files }: FileSite, log: MemoryLog, at = 'log/', checkpoint = log.checkpoint()): void {
  for (const [path, bytes] of log.files) files.set(at + path, bytes);
  files.set(`${at}checkpoint`, checkpoint);
}
