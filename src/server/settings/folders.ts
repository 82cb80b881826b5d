import * as z from 'zod';
import { folder } from './variable.ts';

/** A variable that is no longer supported. `error` says what to do instead. */
const withdrawn = (error: string) =>
  z.undefined({ error: `${error}; unset it in the environment or in .env` }).optional();

/** The folders of this process, and whether a build presses. */
export const folders = z
  .object({
    /** The folder of the database, the signing key, the media and the outbox. Back it up. */
    DATA_DIR: folder('var'),
    /** What `broadsheet file` files: one folder per paper. */
    CONTENT_DIR: folder('content'),
    /** Where papers are pressed: one folder per paper, each ready for a CDN. */
    DIST_DIR: folder('dist/papers'),
    /** Where the transparency logs are published: `desk` and `records` in it, each ready for a CDN. */
    LOG_DIR: folder('dist/log'),
    /**
     * Formerly a libSQL server to replicate. Setting it prevents the start, because a node configured as a replica must
     * not serve a database of its own.
     */
    LIBSQL_SYNC_URL: withdrawn('replicas of a libSQL server are not supported'),
    LIBSQL_AUTH_TOKEN: withdrawn('replicas of a libSQL server are not supported'),
    /**
     * Whether `astro build` also files `content/` and presses; `off` where a starting server does both in the
     * background.
     */
    BUILD_PRESSES: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  })
  .transform((env) => ({
    dataDir: env.DATA_DIR,
    contentDir: env.CONTENT_DIR,
    distDir: env.DIST_DIR,
    logDir: env.LOG_DIR,
    buildPresses: env.BUILD_PRESSES === 'on',
  }));
