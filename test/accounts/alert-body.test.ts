import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as z from 'zod';
import {
  ALERT_FORMATS,
  type AlertFormat,
  type AlertItem,
  alertBody,
  changeMessage,
  formatOfHost,
  TEST_MESSAGE,
} from '../../src/records/accounts/alert-body.ts';
import { changeLine } from '../../src/records/wire-rows.ts';
import * as fc from '../support/properties.ts';

const AT = Date.UTC(2026, 10, 21, 9);
const ROOT = 'https://records.example';
const KEY = 'samplekeyheresamplekeyheresample';

const text = (most: number) => z.string().min(1).max(most);
/**
 * The documented shapes, with their limits; strict, so that nothing undocumented is sent. As read in November 2026:
 * - Slack: https://docs.slack.dev/reference/block-kit/blocks/header-block, …/rich-text-block and
 *   …/block-elements/rich-text-list-element, whose examples test/fixtures/alert-bodies/slack.json puts together;
 * - Discord: https://docs.discord.com/developers/resources/webhook#execute-webhook, and the embed limits and allowed
 *   mentions of …/resources/message;
 * - Teams: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using, and
 *   TextRun in https://github.com/microsoft/AdaptiveCards, schemas/1.2.0/adaptive-card.json;
 * - PagerDuty: https://github.com/PagerDuty/api-schema, reference/events-v2/openapiv3.json, operation createV2Event. Its
 *   lengths are those of https://developer.pagerduty.com/docs/events-api-v2/trigger-events/.
 */
const SlackText = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  style: z.strictObject({ bold: z.boolean().optional(), code: z.boolean().optional() }).optional(),
});
const SlackLink = z.strictObject({
  type: z.literal('link'),
  url: z.url(),
  text: z.string(),
  style: z.strictObject({ bold: z.boolean() }).optional(),
});
const SlackSection = z.strictObject({
  type: z.literal('rich_text_section'),
  elements: z.array(z.union([SlackText, SlackLink])).min(1),
});
const EVENT = { routing_key: z.string().length(32), dedup_key: text(255) };
const SHAPES = {
  slack: z.strictObject({
    text: text(4_000),
    blocks: z
      .array(
        z.union([
          z.strictObject({
            type: z.literal('header'),
            text: z.strictObject({ type: z.literal('plain_text'), text: text(150), emoji: z.boolean() }),
          }),
          z.strictObject({
            type: z.literal('rich_text'),
            elements: z.array(
              z.union([
                SlackSection,
                z.strictObject({
                  type: z.literal('rich_text_list'),
                  style: z.enum(['bullet', 'ordered']),
                  indent: z.int().optional(),
                  border: z.int().optional(),
                  elements: z.array(SlackSection).min(1),
                }),
              ]),
            ),
          }),
        ]),
      )
      .max(50),
    unfurl_links: z.boolean(),
    unfurl_media: z.boolean(),
  }),
  discord: z.strictObject({
    embeds: z
      .array(
        z.strictObject({
          title: text(256),
          url: z.url(),
          description: z.string().max(4_096),
          color: z.int().min(0).max(0xffffff),
          timestamp: z.iso.datetime(),
        }),
      )
      .max(10),
    allowed_mentions: z.strictObject({ parse: z.array(z.string()) }),
  }),
  teams: z.strictObject({
    type: z.literal('message'),
    attachments: z.tuple([
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.strictObject({
          $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
          type: z.literal('AdaptiveCard'),
          version: z.literal('1.2'),
          body: z.array(
            z.strictObject({
              type: z.literal('RichTextBlock'),
              inlines: z.array(
                z.strictObject({
                  type: z.literal('TextRun'),
                  text: z.string(),
                  size: z.enum(['Medium']).optional(),
                  weight: z.enum(['Bolder']).optional(),
                  fontType: z.enum(['Monospace']).optional(),
                }),
              ),
            }),
          ),
          actions: z.array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() })),
          msteams: z.strictObject({ width: z.literal('Full') }),
        }),
      }),
    ]),
  }),
  pagerduty: z.discriminatedUnion('event_action', [
    z.strictObject({
      ...EVENT,
      event_action: z.literal('trigger'),
      payload: z.strictObject({
        summary: text(1_024),
        source: text(255),
        severity: z.enum(['critical', 'error', 'warning', 'info']),
        timestamp: z.string(),
        class: z.string(),
        custom_details: z.record(z.string(), z.unknown()),
      }),
      links: z.array(z.strictObject({ href: z.url(), text: z.string() })),
      client: z.string(),
      client_url: z.url(),
    }),
    z.strictObject({ ...EVENT, event_action: z.literal('resolve') }),
  ]),
};
/** The largest body that each takes, in bytes. */
const BYTES = { slack: 13_000, discord: 6_000, teams: 28_000, pagerduty: 512_000 };
type Chat = keyof typeof SHAPES;
const CHATS = Object.keys(SHAPES) as Chat[];

function bodyOf(format: AlertFormat, items: AlertItem[], message = changeMessage(items)): string {
  const target = { format, routing_key: format === 'pagerduty' ? KEY : null, root: ROOT };
  const event = { type: 'domain.changed', data: { changes: [] }, message };
  return alertBody(target, event, { id: '01kb0000000000000000000000', at: AT });
}

const change = (domain: string, value: string): AlertItem => ({
  hostname: domain,
  line: changeLine({ domain, signal: 'TXT', kind: 'changed', before: ['v=spf1 -all'], after: [value] } as never),
  at: AT,
});

test('bodies have the documented shapes, which the documents’ own examples have too', () => {
  for (const file of readdirSync('test/fixtures/alert-bodies')) {
    const example = JSON.parse(readFileSync(`test/fixtures/alert-bodies/${file}`, 'utf8'));
    assert.deepEqual(SHAPES[file.replace(/(?:-resolve)?\.json$/, '') as Chat].parse(example), example, file);
  }
  for (const format of CHATS) {
    for (const body of [
      bodyOf(format, [change('example.com', 'v=spf1 +all')]),
      bodyOf(format, [change('a.example', 'one'), change('b.example', 'two'), change('b.example', 'three')]),
      bodyOf(format, [], TEST_MESSAGE),
      bodyOf(format, [], { ...TEST_MESSAGE, incident: { key: 'k'.repeat(255), isOver: true } }),
    ]) {
      SHAPES[format].parse(JSON.parse(body));
    }
  }
  assert.deepEqual(JSON.parse(bodyOf('standard', [])), {
    type: 'domain.changed',
    timestamp: '2026-11-21T09:00:00.000Z',
    data: { changes: [] },
  });
});

/** Values that somebody else puts into a record, to be read in a chat. */
const HOSTILE = [
  '<!channel> <!everyone> <@U012AB3CD> <#C123> <https://evil.example|your bank>',
  '@everyone @here <@123456789012345678> <@&42> <#99> <:name:1> </slash:1>',
  '**bold** *i* _u_ ~~s~~ ||spoiler|| `code` ```\n# heading\n> quote\n- list\n[link](https://evil.example)',
  '```',
  '`````````````',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a record may contain it
  '![image](https://evil.example/x.png) <at>Ada</at> {{DATE(2026)}} ${expression}',
  'https://evil.example/login mailto:a@b.example',
  '\u202egnp.exe \u2066\u2069 \u0000\u0007\u001b[31m \ud800 \udfff \u2028',
  '&lt;!channel&gt; &amp; <b onmouseover=1>',
  '"},{"type":"mrkdwn","text":"<!channel>"',
];

test('no value of a record becomes a mention, a link or markup', () => {
  for (const value of HOSTILE) {
    const items = [change('example.com', value)];
    const slack = SHAPES.slack.parse(JSON.parse(bodyOf('slack', items)));
    assert.equal(slack.text, 'example.com changed', 'notifications name hostnames alone');
    JSON.parse(bodyOf('slack', items), (name, member) => {
      if (name === 'url') assert(String(member).startsWith(`${ROOT}/`), member);
      return member;
    });
    assert.doesNotMatch(bodyOf('slack', items), /mrkdwn"/.test(value) ? /"type":"mrkdwn"/ : /mrkdwn/);

    const [embed] = SHAPES.discord.parse(JSON.parse(bodyOf('discord', items))).embeds;
    const lines = embed?.description.split('\n') ?? [];
    assert.deepEqual([lines[0], lines.at(-1), lines.length], ['```', '```', 3], embed?.description);
    assert.doesNotMatch(lines[1] ?? '', /`/, 'nothing leaves the code block');
    assert.deepEqual(JSON.parse(bodyOf('discord', items)).allowed_mentions, { parse: [] });

    const card = SHAPES.teams.parse(JSON.parse(bodyOf('teams', items))).attachments[0].content;
    for (const { url } of card.actions) assert(url.startsWith(`${ROOT}/`), url);
    assert.doesNotMatch(JSON.stringify(card), /"TextBlock"|"FactSet"|entities/, 'what parses Markdown or mentions');

    for (const format of CHATS) {
      const body = bodyOf(format, items);
      assert(body.isWellFormed());
      JSON.parse(body, (_, member) => {
        // Lines of a code block end with the only control character.
        if (typeof member === 'string')
          assert.doesNotMatch(member, /[\p{Cc}--\n]|[\u202a-\u202e\u2066-\u2069\u2028]/v, format);
        return member;
      });
    }
  }
});

test('a title cannot break out, whatever a hostname is', () => {
  const message = {
    title: '<!channel> @everyone `x` [a](https://evil.example) *b*',
    severity: 'error',
    items: [],
  } as const;
  const slack = JSON.parse(bodyOf('slack', [], message));
  assert.equal(slack.text, '&lt;!channel&gt; @everyone `x` [a](https://evil.example) *b*');
  assert.equal(slack.blocks[0].text.type, 'plain_text');
  assert.equal(
    JSON.parse(bodyOf('discord', [], message)).embeds[0].title,
    '\\<!channel\\> \\@everyone \\`x\\` \\[a\\]\\(https\\://evil.example\\) \\*b\\*',
  );
});

test('bodies keep the limits of each, for any number of changes of any length', () => {
  const item = fc.record({
    hostname: fc.constantFrom('a.example', `${`${'x-'.repeat(31)}x.`.repeat(3)}example`, 'xn--bcher-kva.example'),
    line: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.constantFrom('"'.repeat(600), '€'.repeat(600), '😀'.repeat(300), '\\'.repeat(600), '\u0000'.repeat(200)),
    ),
    at: fc.constant(AT),
  });
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 100 }), (items) => {
      for (const format of CHATS) {
        const body = bodyOf(format, items);
        SHAPES[format].parse(JSON.parse(body));
        assert(body.isWellFormed());
        assert(Buffer.byteLength(body) <= BYTES[format], `${format}: ${Buffer.byteLength(body)} bytes`);
        if (format !== 'pagerduty' && items.length > 20) assert.match(body, /and \d+ more change/);
      }
    }),
    { numRuns: 60 },
  );
});

test('the host of an address decides, unless a format is given', () => {
  for (const [url, format] of [
    ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
    ['https://discord.com/api/webhooks/1/x', 'discord'],
    ['https://ptb.discord.com/api/webhooks/1/x', 'discord'],
    ['https://discordapp.com/api/webhooks/1/x', 'discord'],
    ['https://prod-12.westeurope.logic.azure.com:443/workflows/x/triggers/manual/paths/invoke', 'teams'],
    ['https://default0.1.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/x', 'teams'],
    ['https://contoso.webhook.office.com/webhookb2/x', 'teams'],
    ['https://events.pagerduty.com/v2/enqueue', 'pagerduty'],
    ['https://events.eu.pagerduty.com/v2/enqueue', 'pagerduty'],
    ['https://HOOKS.SLACK.COM./services/x', 'slack'],
    ['https://hooks.slack.com.evil.example/', 'standard'],
    ['https://evilhooks.slack.com/', 'standard'],
    ['https://notdiscord.com/', 'standard'],
    ['https://hooks.example.org/slack.com', 'standard'],
    ['not an address', 'standard'],
  ] as const) {
    assert.equal(formatOfHost(url), format, url);
  }
  assert.deepEqual(ALERT_FORMATS.filter((format) => format !== 'standard').toSorted(), CHATS.toSorted());
});
