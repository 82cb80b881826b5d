import { z } from '@hono/zod-openapi';
import { ChoicesBody } from '../../../src/desk/readers/choices.ts';
import { CADENCES } from '../../../src/desk/readers/subscriber.ts';
import { ADDRESS_MAX } from '../../../src/shared/outbound/mail-address.ts';
import { WEBHOOK_MAX } from '../../../src/shared/outbound/webhook-url.ts';
import { listSchema, pathParam } from '../route.ts';

/** The most addresses in an admin's request: each gets a mail at once. */
const EMAILS_MAX = 20;

export const Order = ChoicesBody.safeExtend({
  email: z.string().openapi({
    description: `A mail address of at most ${ADDRESS_MAX} characters. Addresses that differ only in case are the same reader.`,
  }),
}).openapi('Order', {
  description: 'A reader’s own request.',
  example: { email: 'reader@example.org', cadence: 'weekly', cast: false },
});

export const AdminOrder = ChoicesBody.safeExtend({
  emails: z
    .array(z.string())
    .min(1, 'is empty; give one or more addresses')
    .max(EMAILS_MAX, {
      error: `holds more than ${EMAILS_MAX} addresses; send them in several requests`,
    }),
  webhook: z.string().max(WEBHOOK_MAX).nullish().openapi({
    description:
      'An https address on a public host; deliveries to it are signed with `webhook_secret`. Null takes a webhook away, and its secret: the next one gets a new secret.',
    example: 'https://hooks.example.org/broadsheet',
  }),
}).openapi('AdminOrder', {
  description:
    'An admin’s request for others. Each address gets a mail that asks to confirm, and joins only once it has.',
  example: { emails: ['reader@example.org'], cadence: 'daily' },
});

/** The same request as a form sends it. */
export const OrderForm = z
  .object({
    email: z.string(),
    cadence: z.enum(CADENCES).optional(),
    sections: z.union([z.string(), z.array(z.string())]).optional(),
    cast: z.enum(['true', 'false', 'on']).optional(),
    boxes: z.string().optional(),
  })
  .openapi('OrderForm', {
    description:
      'A form’s request, with one `sections` field per section. Omitted fields have their defaults: all sections, and the video or audio edition too. A form with checkboxes for these declares them with `boxes=sections cast`; a declared box that is not sent counts as unticked.',
    example: { email: 'reader@example.org', cadence: 'weekly', cast: 'true' },
  });

export const Pending = z
  .object({ status: z.literal('pending'), message: z.string() })
  .openapi('Pending', { description: 'The same for every address, whether it is subscribed or not.' });

const secret = z.string().optional().openapi({
  description: 'Verifies X-NRF-Signature and webhook-signature; only with a webhook.',
  example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
});

export const AdminResults = z
  .object({
    results: z.array(
      z.object({
        email: z.string().openapi({ description: 'As it was given.' }),
        status: z.enum(['pending', 'confirmed', 'suppressed', 'invalid']),
        webhook_secret: secret,
        message: z.string().optional().openapi({ description: 'What is wrong with an invalid address.' }),
      }),
    ),
  })
  .openapi('OrderResults', { description: 'One for each address, in their order.' });

const time = z.iso.datetime().nullable();

const SUBSCRIBER = {
  email: 'reader@example.org',
  confirmed_at: '2026-11-21T07:06:00.000Z',
  cadence: 'daily',
  sections: ['Time', 'Measures'],
  cast: true,
  last_sent_at: null,
};

export const SubscriberRow = z
  .object({
    email: z.string(),
    confirmed_at: time.openapi({ description: 'Null until the reader confirms.' }),
    cadence: z.enum(CADENCES),
    sections: z.array(z.string()),
    cast: z.boolean(),
    last_sent_at: time.openapi({ description: 'When the last alert went out.' }),
    webhook: z.string().optional(),
    webhook_secret: secret,
    webhook_id: z.string().optional().openapi({
      description: 'Names the webhook in deliveries, and at `POST /api/v1/webhooks/{id}/test`.',
    }),
  })
  .openapi('Subscriber', { example: SUBSCRIBER });

const counted = {
  total: z.int().min(0).openapi({ description: 'Orders, confirmed or not.' }),
  confirmed: z.int().min(0).openapi({ description: 'Readers who confirmed.' }),
};

export const SubscriberList = listSchema('SubscriberList', 'subscribers', SubscriberRow, counted).openapi({
  description: 'What an admin key sees.',
});

export const SubscriberCounts = z
  .object({ count: counted.total, confirmed: counted.confirmed })
  .openapi('SubscriberCounts', { description: 'What any other key sees.', example: { count: 120, confirmed: 97 } });

export const SubscriberDays = z
  .object({
    total: counted.total,
    confirmed: counted.confirmed,
    days: z.array(
      z.object({
        day: z.iso.date(),
        confirmed: z.int().min(0).openapi({ description: 'Readers who confirmed on it.' }),
        left: z.int().min(0).openapi({ description: 'Confirmed readers who left on it, or were erased.' }),
        total: z.int().openapi({ description: 'Confirmed readers at its end.' }),
      }),
    ),
  })
  .openapi('SubscriberDays', {
    example: { total: 120, confirmed: 97, days: [{ day: '2026-11-20', confirmed: 3, left: 1, total: 97 }] },
  });

export const ReaderRecord = z
  .object({
    email: z.string(),
    subscriber: SubscriberRow.safeExtend({
      made_at: z.iso.datetime(),
      ordered_at: z.iso.datetime(),
      asked: z
        .object({ cadence: z.enum(CADENCES), sections: z.array(z.string()), cast: z.boolean() })
        .nullable()
        .openapi({ description: 'A requested change that is not confirmed yet.' }),
    })
      .openapi({
        example: { ...SUBSCRIBER, made_at: SUBSCRIBER.confirmed_at, ordered_at: SUBSCRIBER.confirmed_at, asked: null },
      })
      .nullable(),
    suppression: z
      .object({ reason: z.enum(['unsubscribed', 'complained', 'bounced', 'by_hand']), at: z.iso.datetime() })
      .nullable(),
    mails: z.array(
      z.object({
        kind: z.string(),
        about: z.string(),
        state: z.enum(['due', 'sent', 'failed']),
        attempts: z.int(),
        error: z.string().nullable().openapi({ description: 'Why the last attempt failed; null when it did not.' }),
        at: z.iso.datetime(),
      }),
    ),
  })
  .openapi('Reader', { description: 'Everything that the paper stores about one address.' });

export const Erased = z
  .object({ email: z.string(), erased: z.literal(true) })
  .openapi('Erased', { example: { email: 'reader@example.org', erased: true } });

export const emailParam = pathParam('email', 'The address.', 'reader@example.org');
