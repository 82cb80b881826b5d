import type { DayBar, LandingSample } from './views.ts';

/** Changes per day of a month with a move in it. */
const COUNTS = [3, 5, 2, 0, 1, 4, 6, 3, 2, 5, 1, 0, 2, 4, 3, 9, 14, 6, 3, 2, 4, 1, 3, 5, 2, 6, 4, 3, 7, 5];
const days: DayBar[] = COUNTS.map((count, index) => ({ day: `2026-01-${String(index + 1).padStart(2, '0')}`, count }));

const CHANGES = [
  ['16:40', 'harbor-ledger.example', 'changed', 'A changed: 192.0.2.10 → 192.0.2.27'],
  ['16:02', 'tide-tables.example', 'added', 'CAA added: 0 issue "ca.example"'],
  ['14:31', 'www.north-quay.example', 'changed', 'certificate changed: CN=R11 → CN=R12'],
  ['11:18', 'chart-room.example', 'removed', 'AAAA removed: 2001:db8::5'],
  ['09:57', 'pilots-guild.example', 'changed', 'MX changed: 10 mx1.mail.example → 10 mx.post.example'],
  ['08:12', 'fog-signal.example', 'added', 'DMARC added: v=DMARC1; p=reject'],
] as const;

const item = (text: string, detail: string) => ({ text, detail, url: null });

/**
 * What the landing shows while no hostname is under watch. Its names (RFC 2606) and addresses (RFC 5737, RFC 3849) are
 * for documentation, and it has no links.
 */
export const LANDING_SAMPLE: LandingSample = {
  days,
  tape: CHANGES.map(([time, domain, kind, change], index) => ({
    seq: CHANGES.length - index,
    at: `2026-01-30T${time}:00.000Z`,
    domain,
    url: null,
    kind,
    line: `${domain} ${change}`,
  })),
  lists: [
    {
      name: 'Hostnames',
      about: 'Every watched hostname and all of its records',
      items: [
        item('harbor-ledger.example', 'seen 2026-01-30'),
        item('tide-tables.example', 'seen 2026-01-30'),
        item('north-quay.example', 'seen 2026-01-30'),
      ],
      total: 12,
      all_url: null,
    },
    {
      name: 'Services',
      about: 'Who serves mail, DNS and web pages, for which hostnames',
      items: [item('Mail of Post Example', '7 hostnames'), item('DNS of Harbor Example', '5 hostnames')],
      total: 2,
      all_url: null,
    },
  ],
};
