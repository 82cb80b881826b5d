import { join } from 'node:path';
import { mediaKey } from '../../media/media.ts';
import { VIDEO_BYTES_MAX } from '../../media/media-formats.ts';
import { sha256 } from '../../proof/basis.ts';
import type { Settings } from '../../server/env.ts';
import { Fault } from '../../shared/fault.ts';
import { realPath } from '../../shared/files/real-path.ts';
import { parseAddress, shownAddress, treePrefix } from '../../shared/storage/address.ts';
import { requireApart, requireUnpublished } from '../../shared/storage/backup-location.ts';
import type { Bucket } from '../../shared/storage/bucket.ts';
import { openBucket } from '../../shared/storage/publish-target.ts';

/** The store at MEDIA_URL: objects by content, under the names that they have in the media folder of DATA_DIR. */
export interface MediaStore {
  name: string;
  /** The digests of what is there. */
  digests(): Promise<Set<string>>;
  put(digest: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** The bytes of a file; null when it is not there whole. */
  get(digest: string): Promise<Uint8Array | null>;
}

const KEY = /[0-9a-f]{2}\/([0-9a-f]{64})$/;

/**
 * Opens the store at MEDIA_URL; null without one. Throws `invalid_request` for an address that readers see, or in
 * DATA_DIR.
 */
export function openMediaStore(settings: Settings, ending?: AbortSignal): MediaStore | null {
  const { mediaUrl } = settings;
  if (mediaUrl === null) return null;
  const address = parseAddress(mediaUrl, settings.objectStorage);
  const text = `MEDIA_URL=${shownAddress(mediaUrl)}`;
  if (typeof address === 'string') throw new Fault('invalid_request', `${text}: ${address}; correct it`);
  // Media of private papers and of drafts are there too.
  if (address.kind === 's3') requireUnpublished(settings, address, text);
  else requireApart(settings, join(realPath(address.folder), 'media'), text);
  const bucket: Bucket = openBucket(settings, address, ending);
  const prefix = treePrefix({ ...address, paper: '' }, '');
  return {
    name: bucket.name,
    async digests() {
      const found = new Set<string>();
      for await (const { key } of bucket.list(prefix)) {
        const hex = KEY.exec(key)?.[1];
        if (hex !== undefined) found.add(`sha256:${hex}`);
      }
      return found;
    },
    async put(digest, bytes, signal) {
      await bucket.put(prefix + mediaKey(digest), bytes, {
        headers: { 'content-type': 'application/octet-stream' },
        ...(signal === undefined ? {} : { signal }),
      });
      await bucket.flush();
    },
    async get(digest) {
      const found = await bucket.get(prefix + mediaKey(digest), VIDEO_BYTES_MAX);
      return found !== null && sha256(found.bytes) === digest ? found.bytes : null;
    },
  };
}
