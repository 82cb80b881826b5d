import { LogFault } from '../../proof/log/log-fault.ts';
import { SECOND } from '../../proof/time.ts';
import { clientOptions, type Inbound, outboundClient } from '../../shared/net/outbound-client.ts';
import { type AddCheckpointAnswer, ANSWER_MAX, readAddCheckpointAnswer } from './witness.ts';

/** The timeout of a request, from name resolution to the last byte of the response, in ms. */
const DEADLINE = 10 * SECOND;

/**
 * Submits a checkpoint to a witness at an address, which is its `add-checkpoint` URL without that last word. The
 * response is parsed but not verified. Throws a one-line LogFault for every other outcome.
 */
export type SubmitCheckpoint = (address: string, body: string) => Promise<AddCheckpointAnswer>;

/**
 * A client for witnesses (C2SP tlog-witness). The operator configures their addresses, so private ones are allowed.
 * `deadline` is in ms, `ca` in PEM.
 */
export function witnessClient(
  agent: string,
  { deadline = DEADLINE, ca }: { deadline?: number; ca?: string } = {},
): SubmitCheckpoint {
  const limits = { deadline, answerMax: ANSWER_MAX, answerWait: deadline };
  const send = outboundClient({ ...clientOptions(agent, true), ...limits, ca });
  return async (address, body) => {
    const answer = await send(`${address}${address.endsWith('/') ? '' : '/'}add-checkpoint`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': `${Buffer.byteLength(body)}` },
      body,
    });
    const { status, contentType, text, cut } = answer;
    const error = answer.error ?? '';
    if (status === null) {
      throw new LogFault(unanswered(deadline)[error] ?? `the request to the witness failed (${error})`);
    }
    if (status >= 300 && status < 400) {
      throw new LogFault(`the witness answered ${status}, a redirect: name its final address in the policy`);
    }
    if (text === null && (status === 200 || status === 409)) throw new LogFault(cutShort(cut, deadline));
    return readAddCheckpointAnswer(status, contentType, text ?? '');
  };
}

/** Why a witness did not answer, by the error code of the request. */
const unanswered = (deadline: number): Record<string, string> => ({
  timeout: `the witness did not answer within ${deadline / SECOND} s`,
  dns: 'the host of the witness has no address',
  refused: 'the witness refused the connection; nothing listens there',
  unreachable: 'the witness cannot be reached from this network',
  tls: 'no TLS connection to the witness: its certificate is not valid for this address',
  not_http: 'the server at the address of the witness does not speak HTTP',
  closed: 'the witness closed the connection without an answer',
});

function cutShort(cut: Inbound['cut'], deadline: number): string {
  if (cut === 'too_long') return `the witness’s response has more than ${ANSWER_MAX} bytes`;
  if (cut === 'timeout') return `the witness’s response did not end within ${deadline / SECOND} s`;
  return 'the witness closed the connection before the end of its answer';
}
