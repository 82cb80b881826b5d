import { decode, encode } from 'dns-packet';
import { type LyingServer, lyingServer } from './lying-server.ts';

/** A name server whose answers a test can change at any time. */
export interface OwnerZone extends LyingServer {
  /** Texts and addresses by name. Other names get NXDOMAIN. */
  txt: Map<string, string[]>;
  a: Map<string, string[]>;
  /** While set, every answer is this code, such as 2 for SERVFAIL; with `null`, there is none. */
  failing: number | null | undefined;
}

export async function ownerZone(t: { after(work: () => unknown): void }): Promise<OwnerZone> {
  const [txt, a] = [new Map<string, string[]>(), new Map<string, string[]>()];
  const server = await lyingServer(t, ({ bytes }) => {
    const query = decode(bytes);
    const [question] = query.questions ?? [];
    if (question === undefined || zone.failing === null) return [];
    const { name } = question;
    const reply = (code: number, answers: { type: 'TXT' | 'A'; name: string; ttl: number; data: string }[] = []) => [
      encode({ id: query.id, type: 'response', flags: 0x0180 | code, questions: query.questions, answers }),
    ];
    if (zone.failing !== undefined) return reply(zone.failing);
    const key = name.toLowerCase();
    const found = question.type === 'TXT' ? txt.get(key) : question.type === 'A' ? a.get(key) : undefined;
    if (found !== undefined) {
      return reply(
        0,
        found.map((data) => ({ type: question.type as 'TXT' | 'A', name, ttl: 60, data })),
      );
    }
    return reply(txt.has(key) || a.has(key) ? 0 : 3);
  });
  const zone: OwnerZone = { ...server, txt, a, failing: undefined };
  return zone;
}
