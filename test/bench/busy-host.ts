import type { Probe } from '../../src/proof/records/signal.ts';
import { certificate, probe } from '../support/probes.ts';

/** One host in so many has another address in each round. */
const MOVING = 20;

/** What a busy host of our days shows. Its name has a number, as in `h7.zone7.example`. */
export function busyHost(hostname: string, round: number, now: number): Probe {
  const number = Number(/\d+/.exec(hostname)?.[0]);
  const turn = number % MOVING === round % MOVING ? round : 0;
  const zone = hostname.replace(/^[^.]+\./, '');
  const shown = {
    A: [`192.0.2.${number % 250}`, `198.51.100.${turn}`],
    AAAA: [`2001:db8::${(number % 65_000).toString(16)}`],
    NS: [`ns1.${zone}`, `ns2.${zone}`],
    SOA: [`ns1.${zone} hostmaster.${zone} ${round + 1} 7200 3600 1209600 300`],
    MX: [`10 mx1.mail${number % 50}.example`, `20 mx2.mail${number % 50}.example`],
    TXT: ['v=spf1 include:_spf.example.com ~all', `verification=${hostname}`],
    CAA: ['0 issue "letsencrypt.org"'],
    DMARC: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'],
    WWW_A: [`192.0.2.${number % 250}`],
    WWW_CNAME: [hostname],
  };
  return probe(hostname, now, shown, certificate((number % 16).toString(16)));
}

/** Whether its address of a round is another one than before. */
export function isMoved(hostname: string, round: number): boolean {
  const turn = Number(/\d+/.exec(hostname)?.[0]) % MOVING;
  return turn === round % MOVING || turn === (round - 1) % MOVING;
}

/** The names of so many busy hosts. */
export function busyNames(start: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `h${start + n}.zone${(start + n) % 997}.example`);
}
