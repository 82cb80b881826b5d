import { isoTime } from '../../proof/time.ts';
import { eventBody } from '../../shared/outbound/webhook-url.ts';
import { plural } from '../../shared/plural.ts';
import { printable } from '../../shared/terminal/output.ts';

/**
 * How the requests of a webhook look: as this service's own events (protocol 10), as messages for Slack, Discord and
 * Microsoft Teams (an Adaptive Card for Workflows), or as events of PagerDuty (Events API v2).
 */
export const ALERT_FORMATS = ['standard', 'slack', 'discord', 'teams', 'pagerduty'] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

/** The formats as people call them. */
export const FORMAT_NAMES: Readonly<Record<AlertFormat, string>> = {
  standard: 'your own server',
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
};

/** Where PagerDuty takes events, unless its account is in Europe. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';
/** An integration key of PagerDuty. */
export const ROUTING_KEY = /^[0-9A-Za-z]{32}$/;

const HOSTS: readonly [host: RegExp, format: AlertFormat][] = [
  [/^hooks\.slack(?:-gov)?\.com$/, 'slack'],
  [/^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/, 'discord'],
  [/(?:^|\.)(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/, 'teams'],
  [/^events\.(?:eu\.)?pagerduty\.com$/, 'pagerduty'],
];

/** The format that the host of an address takes; `standard` for one that is not known. */
export function formatOfHost(url: string): AlertFormat {
  const host = URL.parse(url)?.hostname.replace(/\.$/, '') ?? '';
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? 'standard';
}

/** What a message tells about one hostname. */
export interface AlertItem {
  hostname: string;
  /** One line of text, which may contain anything that a record contains. */
  line: string;
  /** In ms. */
  at: number;
}

/** What an alert tells, in the words of no format. `title` contains no value of a record. */
export interface AlertMessage {
  title: string;
  severity: 'info' | 'warning' | 'error' | 'critical';
  items: readonly AlertItem[];
  /** What it opens or ends, where that may end; `key` has at most 255 characters. */
  incident?: { key: string; isOver: boolean };
}

/** An event: its type and content in this service's own form, and as a message. */
export interface AlertEvent {
  type: string;
  data: object;
  message: AlertMessage;
}

/** Where an alert goes, and what its links begin with. */
interface AlertTarget {
  format: AlertFormat;
  routing_key: string | null;
  /** The public address of the service, without a trailing slash. */
  root: string;
}

/** The body of one request. `id` is that of the delivery; `at` in ms. */
export function alertBody(
  { format, routing_key, root }: AlertTarget,
  { type, data, message }: AlertEvent,
  { id, at }: { id: string; at: number },
): string {
  if (format === 'standard') return eventBody(type, at, data);
  const safe = { ...message, title: plain(message.title), items: message.items.map(plainItem) };
  if (format === 'pagerduty') return JSON.stringify(pagerDuty(safe, { root, routing_key: routing_key ?? '', id, at }));
  const { most, render } = CHATS[format];
  // A message that is too long for the chat counts the rest.
  for (let shown = Math.min(safe.items.length, ITEMS_MAX); ; shown--) {
    const body = JSON.stringify(
      render({ ...safe, items: safe.items.slice(0, shown) }, safe.items.length - shown, root, at),
    );
    if (shown === 0 || Buffer.byteLength(body) <= most) return body;
  }
}

/** The most items and characters of a line in a message. */
const ITEMS_MAX = 20;
const LINE_MAX = 280;
const TITLE_MAX = 120;

/** One line without control characters and bidirectional marks, cut between characters. */
function plain(text: string, most = TITLE_MAX): string {
  const line = printable(text.toWellFormed());
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function plainItem({ hostname, line, at }: AlertItem): AlertItem {
  // The name stands before it.
  const text = line.startsWith(`${hostname} `) ? line.slice(hostname.length + 1) : line;
  return { hostname: plain(hostname, 253), line: plain(text, LINE_MAX), at };
}

type Render = (message: AlertMessage, more: number, root: string, at: number) => object;

const pageOf = (root: string, hostname: string): string => `${root}/t/${encodeURIComponent(hostname)}`;
const moreOf = (more: number): string => `and ${plural(more, 'more change')}`;

/**
 * Slack: rich text, whose elements are never parsed, so that no value becomes a mention, a link or markup. `text` is for
 * notifications; in it the three characters are escaped that Slack asks for.
 */
const slack: Render = ({ title, items }, more, root) => ({
  text: title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  blocks: [
    { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
    {
      type: 'rich_text',
      elements: [
        ...(items.length === 0
          ? []
          : [
              {
                type: 'rich_text_list',
                style: 'bullet',
                elements: items.map(({ hostname, line }) => ({
                  type: 'rich_text_section',
                  elements: [
                    { type: 'link', url: pageOf(root, hostname), text: hostname, style: { bold: true } },
                    { type: 'text', text: ' ' },
                    { type: 'text', text: line, style: { code: true } },
                  ],
                })),
              },
            ]),
        {
          type: 'rich_text_section',
          elements: [
            ...(more === 0 ? [] : [{ type: 'text', text: `${moreOf(more)}. ` }]),
            { type: 'link', url: `${root}/account/alerts`, text: 'Your alerts' },
          ],
        },
      ],
    },
  ],
  unfurl_links: false,
  unfurl_media: false,
});

const COLORS = { info: 0x0b7a75, warning: 0xb7791f, error: 0xb42318, critical: 0xb42318 };
/** Ends a code block of Markdown, and what stands for it. */
const GRAVE = /`/g;
const MODIFIER_GRAVE = 'ˋ';

/** Discord: lines in a code block, in which nothing is parsed; no mention notifies anybody. */
const discord: Render = ({ title, severity, items }, more, root, at) => {
  const lines = items.map(({ hostname, line }) => `${hostname} ${line}`.replace(GRAVE, MODIFIER_GRAVE));
  return {
    embeds: [
      {
        title: title.replace(/[\\*_~`|>#[\]()<:@]/g, '\\$&'),
        url: items[0] === undefined ? `${root}/account/alerts` : pageOf(root, items[0].hostname),
        description: [
          ...(lines.length === 0 ? [] : ['```', ...lines, '```']),
          ...(more === 0 ? [] : [moreOf(more)]),
        ].join('\n'),
        color: COLORS[severity],
        timestamp: isoTime(at),
      },
    ],
    allowed_mentions: { parse: [] },
  };
};

/** Teams: an Adaptive Card of text runs, which are not parsed as Markdown. */
const teams: Render = ({ title, items }, more, root) => {
  const run = (text: string, look: object = {}) => ({ type: 'TextRun', text, ...look });
  const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            block(run(title, { size: 'Medium', weight: 'Bolder' })),
            ...items.map(({ hostname, line }) =>
              block(run(`${hostname} `, { weight: 'Bolder' }), run(line, { fontType: 'Monospace' })),
            ),
            ...(more === 0 ? [] : [block(run(moreOf(more)))]),
          ],
          actions: [
            ...(items[0] === undefined
              ? []
              : [{ type: 'Action.OpenUrl', title: 'See the hostname', url: pageOf(root, items[0].hostname) }]),
            { type: 'Action.OpenUrl', title: 'Your alerts', url: `${root}/account/alerts` },
          ],
          msteams: { width: 'Full' },
        },
      },
    ],
  };
};

/**
 * The largest body of each chat, in bytes: Slack rejects blocks of more than about 13,000 characters, Discord embeds of
 * more than 6,000 and descriptions of more than 4,096, Teams messages of more than 28 kB.
 */
const CHATS = {
  slack: { most: 12_000, render: slack },
  discord: { most: 4_000, render: discord },
  teams: { most: 24_000, render: teams },
};

/** The longest summary of PagerDuty, in characters. */
const SUMMARY_MAX = 1_024;

/**
 * PagerDuty: an event of one hostname, plain text throughout. A delivery that is sent again is the same event. What ends
 * an incident has its key, and nothing else that PagerDuty reads.
 */
function pagerDuty(
  { title, severity, items, incident }: AlertMessage,
  { root, routing_key, id, at }: { root: string; routing_key: string; id: string; at: number },
): object {
  const [first] = items;
  const dedup_key = incident?.key ?? id;
  if (incident?.isOver === true) return { routing_key, event_action: 'resolve', dedup_key };
  return {
    routing_key,
    event_action: 'trigger',
    dedup_key,
    payload: {
      summary: plain(first === undefined ? title : `${title}: ${first.line}`, SUMMARY_MAX),
      source: first?.hostname ?? new URL(root).host,
      severity,
      timestamp: isoTime(first?.at ?? at),
      class: 'dns',
      custom_details: { changes: items.map((item) => ({ at: isoTime(item.at), change: item.line })) },
    },
    links: [
      ...(first === undefined ? [] : [{ href: pageOf(root, first.hostname), text: first.hostname }]),
      { href: `${root}/account/alerts`, text: 'Your alerts' },
    ],
    client: 'Domain Records',
    client_url: root,
  };
}

/** What happened to an expectation, as titles say it after the name; what matters most comes first. */
export const HAPPENED = {
  unexpected: 'is not as expected',
  plan_missed: 'did not change as planned',
  as_expected: 'is as expected again',
  done_as_planned: 'changed as planned',
} as const;

/** Changes as a message. `items` are not empty. */
export function changeMessage(items: readonly AlertItem[]): AlertMessage {
  const names = [...new Set(items.map(({ hostname }) => hostname))];
  const others = names.length - 1;
  const more = others === 0 ? '' : ` and ${plural(others, 'other')}`;
  return { title: `${names[0] ?? ''}${more} changed`, severity: 'warning', items };
}

export const TEST_MESSAGE: AlertMessage = {
  title: 'Test of an alert: nothing has changed',
  severity: 'info',
  items: [],
};
