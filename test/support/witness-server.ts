import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { isConsistent, type TreeHead } from '../../src/proof/log/consistency.ts';
import { readHashes } from '../../src/proof/log/fields.ts';
import { merkleRoot } from '../../src/proof/merkle.ts';
import type { Scope } from './app-context.ts';
import { ed25519Witness, type TestWitness } from './log.ts';
import { loopback } from './loopback.ts';

/** The response of a witness. */
export interface WitnessReply {
  status: number;
  type?: string;
  body: string;
}

/** A witness in this process, by the rules of C2SP tlog-witness. It takes any log's signature. */
export interface WitnessServer {
  url: string;
  vkey: string;
  /** The bodies of the requests, in order. */
  asked: string[];
  /** The greatest number of requests at once. */
  atOnce: number;
  /** The newest head of each log, by origin. */
  seen: Map<string, TreeHead>;
  /** The time that it signs, in seconds since 1970. */
  time: number;
  /** Answers a request. A test that sets another function makes it lie. */
  answer(reply: WitnessReply, response: ServerResponse): void;
  /** Makes the honest answer to a request, and remembers its checkpoint. */
  reply(body: string): WitnessReply;
}

/** Starts a witness until the test ends. */
export async function witnessServer(t: Scope, name = 'witness.example/w1', byte = 5): Promise<WitnessServer> {
  const key: TestWitness = ed25519Witness(name, byte);
  let open = 0;
  const listen = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    witness.asked.push(body);
    open++;
    witness.atOnce = Math.max(witness.atOnce, open);
    response.on('close', () => open--);
    if (request.method !== 'POST' || request.url !== '/add-checkpoint') return void response.writeHead(405).end();
    witness.answer(witness.reply(body), response);
  };
  const server = createServer((request, response) => void listen(request, response));
  const witness: WitnessServer = {
    url: `${await loopback(t, server)}/`,
    vkey: key.vkey,
    asked: [],
    atOnce: 0,
    seen: new Map(),
    time: 1_780_000_100,
    answer: send,
    reply(body) {
      const end = body.indexOf('\n\n');
      const [first = '', ...hashes] = body.slice(0, end).split('\n');
      const old = Number(first.slice('old '.length));
      const checkpoint = body.slice(end + 2);
      const { origin, size, root } = parseCheckpoint(checkpoint);
      const latest = this.seen.get(origin) ?? { size: 0, root: merkleRoot([]) };
      if (old > size) return { status: 400, body: 'old is larger than the checkpoint' };
      if (old !== latest.size) return { status: 409, type: 'text/x.tlog.size', body: `${latest.size}\n` };
      if (!isConsistent(latest, { size, root }, readHashes(hashes))) return { status: 422, body: '' };
      this.seen.set(origin, { size, root });
      return { status: 200, body: key.cosign(checkpoint, this.time).slice(checkpoint.length) };
    },
  };
  return witness;
}

/** Sends an answer. */
export function send({ status, type = 'text/plain', body }: WitnessReply, response: ServerResponse): void {
  response.writeHead(status, { 'Content-Type': type }).end(body);
}
