import { LogFault } from '../../proof/log/log-fault.ts';
import { SECOND } from '../../proof/time.ts';
import { clientOptions, type Inbound, outboundClient } from '../../shared/net/outbound-client.ts';
import { type AddCheckpointAnswer, ANSWER_MAX, readAddCheckpointAnswer } from './witness.ts';

/** The timeout of a request, from name resolution to the last byte of the response, in ms. */
const DEADLINE = 10 * SECOND;

/**
 * Submits a checkpoint to the witness at an address, which is that of its `add-checkpoint` without that word. The
 * answer is parsed but not verified. Throws a one-line LogFault for every other outcome.
 */
export type SubmitCheckpoint = (address: string, body: string) => Promise<AddCheckpointAnswer>;

/**
 * A client of witnesses (C2SP tlog-witness). The operator names their addresses, so private ones are allowed.
 * `deadline` is in ms, `ca` in PEM.
 */
export function witnessClient(
  agent: string,
  { deadline = DEADLINE, ca }: { deadline?: number; ca?: string } = {},
): SubmitCheckpoint {
  const limits = { deadline, answerMax: ANSWER_MAX, answerWait: deadline };
  const send = outboundClient({ ...clientOptions(agent, true), ...limits, ca });
  return async (address, body) => {
    const answer = await send(addCheckpointUrl(address), {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': `${Buffer.byteLength(body)}` },
      body,
    });
    const { status, contentType, text } = answer;
    if (status === null) throw new LogFault(withoutAnswer(answer.error ?? '', deadline));
    if (status >= 300 && status < 400) {
      throw new LogFault(`the witness answered ${status}, a redirect: name its final address in the policy`);
    }
    if (text === null && (status === 200 || status === 409)) throw new LogFault(cutShort(answer.cut, deadline));
    return readAddCheckpointAnswer(status, contentType, text ?? '');
  };
}

function addCheckpointUrl(address: string): string {
  return `${address}${address.endsWith('/') ? '' : '/'}add-checkpoint`;
}

function withoutAnswer(word: string, deadline: number): string {
  switch (word) {
    case 'timeout':
      return `the witness did not answer within ${deadline / SECOND} s`;
    case 'dns':
      return 'the host of the witness has no address';
    case 'refused':
      return 'the witness refused the connection; nothing listens there';
    case 'unreachable':
      return 'the witness cannot be reached from this network';
    case 'tls':
      return 'no TLS connection to the witness: its certificate is not valid for this address';
    case 'not_http':
      return 'what answers at the address of the witness does not speak HTTP';
    case 'closed':
      return 'the witness closed the connection without an answer';
    default:
      return `the request to the witness failed (${word})`;
  }
}

function cutShort(cut: Inbound['cut'], deadline: number): string {
  switch (cut) {
    case 'too_long':
      return `the witness’s response has more than ${ANSWER_MAX} bytes`;
    case 'timeout':
      return `the witness’s response did not end within ${deadline / SECOND} s`;
    default:
      return 'the witness closed the connection before the end of its answer';
  }
}
