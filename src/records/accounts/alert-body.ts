import { isoTime } from '../../proof/time.ts';
import { eventBody } from '../../shared/outbound/webhook-url.ts';
import { plural } from '../../shared/plural.ts';
import { printable } from '../../shared/terminal/output.ts';

/**
 * The format of a webhook's requests: this service's own events (protocol 10), messages for Slack, Discord or Microsoft
 * Teams (an Adaptive Card for Workflows), or PagerDuty events (Events API v2).
 */
export const ALERT_FORMATS = ['standard', 'slack', 'discord', 'teams', 'pagerduty'] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

/** Display names of the formats. */
export const FORMAT_NAMES: Readonly<Record<AlertFormat, string>> = {
  standard: 'your own server',
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
};

/** PagerDuty's default events endpoint; accounts in its EU region use another. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';
/** A PagerDuty integration key. */
export const ROUTING_KEY = /^[0-9A-Za-z]{32}$/;

const HOSTS: readonly [host: RegExp, format: AlertFormat][] = [
  [/^hooks\.slack(?:-gov)?\.com$/, 'slack'],
  [/^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/, 'discord'],
  [/(?:^|\.)(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/, 'teams'],
  [/^events\.(?:eu\.)?pagerduty\.com$/, 'pagerduty'],
];

/** The format for a webhook address, by its host; `standard` for an unknown host. */
export function formatOfHost(url: string): AlertFormat {
  const host = URL.parse(url)?.hostname.replace(/\.$/, '') ?? '';
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? 'standard';
}

/** The part of a message about one hostname. */
export interface AlertItem {
  hostname: string;
  /** One line of text. It may contain any text that a record may contain. */
  line: string;
  /** In ms. */
  at: number;
}

/** The content of an alert, before it is formatted for a receiver. `title` contains no value of a record. */
export interface AlertMessage {
  title: string;
  severity: 'info' | 'warning' | 'error' | 'critical';
  items: readonly AlertItem[];
  /** The incident that this alert opens or ends; absent for alerts without an end. `key` has at most 255 characters. */
  incident?: { key: string; isOver: boolean };
}

/** An event: its type and data in this service's own format, and the same as a message. */
export interface AlertEvent {
  type: string;
  data: object;
  message: AlertMessage;
}

/** The receiver of an alert, and the base of the alert's links. */
interface AlertTarget {
  format: AlertFormat;
  routing_key: string | null;
  /** The public address of the service, without a trailing slash. */
  root: string;
}

/** The body of one request. `id` is the delivery's; `at` is in ms. */
export function alertBody(
  { format, routing_key, root }: AlertTarget,
  { type, data, message }: AlertEvent,
  { id, at }: { id: string; at: number },
): string {
  if (format === 'standard') return eventBody(type, at, data);
  const safe = { ...message, title: plain(message.title), items: message.items.map(plainItem) };
  if (format === 'pagerduty') return JSON.stringify(pagerDuty(safe, { root, routing_key: routing_key ?? '', id, at }));
  const { most, render } = CHATS[format];
  // Drops items until the message fits the chat's limit; the message counts those left out.
  for (let shown = Math.min(safe.items.length, ITEMS_MAX); ; shown--) {
    const body = JSON.stringify(
      render({ ...safe, items: safe.items.slice(0, shown) }, safe.items.length - shown, root, at),
    );
    if (shown === 0 || Buffer.byteLength(body) <= most) return body;
  }
}

/** The most items in a message, and the most characters in a line and in the title. */
const ITEMS_MAX = 20;
const LINE_MAX = 280;
const TITLE_MAX = 120;

/** One line without control characters and bidirectional marks, cut between characters. */
function plain(text: string, most = TITLE_MAX): string {
  const line = printable(text.toWellFormed());
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function plainItem({ hostname, line, at }: AlertItem): AlertItem {
  // The message already shows the hostname before the line.
  const text = line.startsWith(`${hostname} `) ? line.slice(hostname.length + 1) : line;
  return { hostname: plain(hostname, 253), line: plain(text, LINE_MAX), at };
}

type Render = (message: AlertMessage, more: number, root: string, at: number) => object;

const pageOf = (root: string, hostname: string): string => `${root}/t/${encodeURIComponent(hostname)}`;
const moreOf = (more: number): string => `and ${plural(more, 'more change')}`;

/**
 * Slack: rich text, whose elements are never parsed, so that no value becomes a mention, a link or markup. `text` is
 * for notifications; in it `&`, `<` and `>` are escaped, as Slack requires.
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
/** A grave accent could end the Markdown code block, so a look-alike replaces it. */
const GRAVE = /`/g;
const MODIFIER_GRAVE = 'ˋ';

/** Discord: lines in a code block, where Discord parses nothing. Mentions notify nobody. */
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

/** Teams: an Adaptive Card of text runs, which Teams does not parse as Markdown. */
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

/** The longest summary that PagerDuty accepts, in characters. */
const SUMMARY_MAX = 1_024;

/**
 * PagerDuty: an event about one hostname, in plain text. A repeated delivery has the same deduplication key, so it
 * opens no second incident. An event that ends an incident carries the incident's key and nothing else that PagerDuty
 * reads.
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

/** What happened to an expectation, as titles say it after the hostname; the most important first. */
export const HAPPENED = {
  unexpected: 'is not as expected',
  plan_missed: 'did not change as planned',
  as_expected: 'is as expected again',
  done_as_planned: 'changed as planned',
} as const;

/** Changes as a message. `items` must not be empty. */
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
