import * as z from 'zod';
import { type AddressDefaults, parseAddress } from '../../shared/storage/address.ts';
import { count, duration, refuse } from './variable.ts';

/** The places outside DATA_DIR: published trees, media, the lease, archive and dumps; and the credentials for them. */
export const objectStorage = z
  .object({
    /**
     * Where to publish after each press: `s3://BUCKET/PREFIX?endpoint=…&region=…`, or a folder. With `paper=SLUG` after
     * the `?`, only that paper is published, at the address itself.
     */
    PUBLISH_URL: z.string().optional(),
    /**
     * A private place that gets every media file as soon as it is filed, and from which a press takes those that DATA_DIR
     * lacks: `s3://BUCKET/PREFIX?endpoint=…`, or a folder on another disk. Servers of one desk share it.
     */
    MEDIA_URL: z.string().optional(),
    /**
     * A place in a bucket, or a folder, that decides which of several servers of the same desk signs:
     * `s3://BUCKET/PREFIX?endpoint=…`. The other servers keep serving, and sign nothing.
     */
    LEASE_URL: z.string().optional(),
    /** How long a server that stops responding keeps the right to sign. */
    LEASE_TIME: duration('30s', 1, 1),
    /**
     * A private place to which the observations of closed days go, out of the database: `s3://BUCKET/PREFIX?endpoint=…`,
     * or a folder on another disk. See docs/archive.md.
     */
    ARCHIVE_URL: z.string().optional(),
    /** Credentials for the objects below `seeds/` in ARCHIVE_URL, so that others may read the rest of the archive. */
    ARCHIVE_SEEDS_ACCESS_KEY_ID: z.string().trim().optional(),
    ARCHIVE_SEEDS_SECRET_ACCESS_KEY: z.string().trim().optional(),
    /**
     * A place that readers see, to which the public part of each closed day goes as files: `s3://BUCKET/PREFIX?endpoint=…`
     * with DUMPS_PUBLIC_URL, or a folder, which the service serves at `/dumps/`. See docs/dumps.md.
     */
    DUMPS_URL: z.string().optional(),
    /** The public address of the files of DUMPS_URL, up to their names. Required for a bucket. */
    DUMPS_PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .refine((url) => !/[?#@]/.test(url), 'must be an address without a query, a fragment or credentials')
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    /** How many days of dumps are kept; older ones are deleted. */
    DUMPS_DAYS: count(365).refine((days) => days >= 1 && days <= 36_500, 'must be from 1 to 36500 days'),
    /** Credentials for object storage. Messages never show them. */
    AWS_ACCESS_KEY_ID: z.string().trim().optional(),
    AWS_SECRET_ACCESS_KEY: z.string().trim().optional(),
    AWS_SESSION_TOKEN: z.string().trim().optional(),
    /** The region and the endpoint of object storage, for addresses that name none. */
    AWS_REGION: z.string().trim().optional(),
    AWS_ENDPOINT_URL_S3: z.string().trim().optional(),
    AWS_ENDPOINT_URL: z.string().trim().optional(),
  })
  .superRefine((env, context) => {
    for (const name of ['PUBLISH_URL', 'MEDIA_URL', 'LEASE_URL', 'ARCHIVE_URL', 'DUMPS_URL'] as const) {
      const url = env[name];
      const address = url === undefined ? null : parseAddress(url, addressDefaults(env));
      if (typeof address === 'string') refuse(context, name, address);
    }
    if (env.DUMPS_URL !== undefined && /^s3:/i.test(env.DUMPS_URL) && env.DUMPS_PUBLIC_URL === undefined)
      refuse(context, 'DUMPS_PUBLIC_URL', 'must be set to the address at which readers get the objects of DUMPS_URL');
    const [id, secret] = [env.ARCHIVE_SEEDS_ACCESS_KEY_ID, env.ARCHIVE_SEEDS_SECRET_ACCESS_KEY];
    if ((id === undefined) !== (secret === undefined)) {
      const [set, missing] = ['ARCHIVE_SEEDS_ACCESS_KEY_ID', 'ARCHIVE_SEEDS_SECRET_ACCESS_KEY'] as const;
      refuse(
        context,
        id === undefined ? missing : set,
        `must be set together with ${id === undefined ? set : missing}`,
      );
    }
  })
  .transform((env) => ({
    /** Where to publish after each press; null without an address. */
    publishUrl: env.PUBLISH_URL ?? null,
    /** Where media are kept besides DATA_DIR; null when nowhere. */
    mediaUrl: env.MEDIA_URL ?? null,
    /** The place of the lease that decides which server signs; null when this server is alone. */
    leaseUrl: env.LEASE_URL ?? null,
    leaseTime: env.LEASE_TIME,
    /** Where observations of closed days go; null when they stay in the database. */
    archiveUrl: env.ARCHIVE_URL ?? null,
    /** The credentials for their seeds; null when they are those of the rest. */
    archiveSeeds:
      env.ARCHIVE_SEEDS_ACCESS_KEY_ID === undefined || env.ARCHIVE_SEEDS_SECRET_ACCESS_KEY === undefined
        ? null
        : { accessKeyId: env.ARCHIVE_SEEDS_ACCESS_KEY_ID, secretAccessKey: env.ARCHIVE_SEEDS_SECRET_ACCESS_KEY },
    /** Where public dumps go, and how long they stay; null without any. */
    dumps:
      env.DUMPS_URL === undefined
        ? null
        : { url: env.DUMPS_URL, publicUrl: env.DUMPS_PUBLIC_URL ?? null, days: env.DUMPS_DAYS },
    objectStorage: {
      ...addressDefaults(env),
      accessKeyId: env.AWS_ACCESS_KEY_ID,
      secretAccessKey: env.AWS_SECRET_ACCESS_KEY,
      sessionToken: env.AWS_SESSION_TOKEN,
    },
  }));

type Given = Partial<Record<'AWS_REGION' | 'AWS_ENDPOINT_URL_S3' | 'AWS_ENDPOINT_URL', string | undefined>>;

function addressDefaults(env: Given) {
  return {
    region: env.AWS_REGION,
    endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL,
  } satisfies AddressDefaults;
}
