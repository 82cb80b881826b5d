import { entriesOf, present } from '../../proof/narrow.ts';
import type { Probe, Signal } from '../../proof/records/signal.ts';
import { demoCertificate } from './demo-certificates.ts';
import { respond, UDP_SIZE } from './demo-name-server.ts';
import { demoAnswer } from './demo-zone.ts';
import { readAnswer } from './dns/answer.ts';
import type { RecordType } from './dns/message.ts';
import { writeQuestion } from './dns/question.ts';
import { QUESTIONS } from './prober.ts';

const SPELLING = { id: 0, mixed: null, edns: true };

/**
 * Probes an invented hostname as of a time in ms, `ago` days before the first start of the demonstration. Parses the
 * bytes that its name server would send, like those of any other server, but without a socket.
 */
export function probeDemo(hostname: string, at: number, ago: number, step: number): Probe {
  const ask = (name: string, type: RecordType): Signal => {
    const question = writeQuestion(name, type, SPELLING);
    const bytes = present(respond(Buffer.from(question.bytes), (...asked) => demoAnswer(...asked, step, ago)));
    const { ednsRefused: _, ...answer } = readAnswer(question, bytes);
    return { ...answer, transport: bytes.length > UDP_SIZE ? 'tcp' : 'udp', rtt_ms: 1 };
  };
  const signals = Object.fromEntries(
    entriesOf(QUESTIONS).map(([signal, [before, type]]) => [signal, ask(before + hostname, type)]),
  ) as Probe['signals'];
  const hasAddress = signals.A.values.length > 0;
  return {
    ...{ hostname, at, signals, wildcard: false },
    ...(hasAddress ? demoCertificate(hostname, at, ago) : { certificate: null, certificate_status: 'none' as const }),
  };
}
