import { sep } from 'node:path';
import type { Settings } from '../../server/env.ts';
import { Fault } from '../fault.ts';
import { realPath } from '../files/real-path.ts';
import { isDead, PROCESS } from '../workers/process-name.ts';
import { type Address, parseAddress, type S3Address, shownAddress } from './address.ts';
import type { Bucket } from './bucket.ts';
import { FolderBucket } from './folder-bucket.ts';
import { S3Bucket } from './s3-bucket.ts';

/** Where a command or the settings say to publish. Throws `invalid_request` naming the field, the value and the cure. */
export function publishAddress(settings: Settings, to: string | undefined): Address {
  const text = to ?? settings.publishUrl;
  if (text === null) {
    throw new Fault(
      'invalid_request',
      'there is no address to publish to; give --to s3://BUCKET/PREFIX or --to FOLDER, or set PUBLISH_URL',
    );
  }
  const field = to === undefined ? 'PUBLISH_URL=' : '--to ';
  const address = parseAddress(text, settings.objectStorage);
  if (typeof address === 'string') {
    throw new Fault('invalid_request', `${field}${shownAddress(text)}: ${address}; correct it`);
  }
  if (address.kind === 'folder') requireFolderApart(settings, address.folder, `${field}${text}`);
  return address;
}

/**
 * Throws `invalid_request` for a folder that holds or is within one of the program's: a publication would remove files.
 */
export function requireFolderApart(
  { dataDir, distDir, logDir, contentDir }: Settings,
  folder: string,
  what: string,
): void {
  for (const [name, own] of Object.entries({
    DATA_DIR: dataDir,
    DIST_DIR: distDir,
    LOG_DIR: logDir,
    CONTENT_DIR: contentDir,
  })) {
    const [a, b] = [realPath(folder) + sep, realPath(own) + sep];
    if (a.startsWith(b) || b.startsWith(a)) {
      throw new Fault('invalid_request', `${what}: must not hold or be within ${name} ${own}; name another folder`);
    }
  }
}

/** `ending` aborts requests to object storage. */
export function openBucket(settings: Settings, address: Address, ending?: AbortSignal): Bucket {
  return address.kind === 'folder'
    ? new FolderBucket(address.folder, { name: PROCESS, isDead })
    : openS3(settings, address, ending);
}

export function openS3({ objectStorage }: Settings, address: S3Address, ending?: AbortSignal): S3Bucket {
  const { accessKeyId, secretAccessKey, sessionToken } = objectStorage;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const missing = accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    throw new Fault(
      'invalid_request',
      `${missing} is not set, and s3://${address.bucket} needs credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment or in .env`,
    );
  }
  const given = {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken ?? '',
  };
  // A rejected header would expose its value in the error.
  const odd = Object.entries(given).find(([, value]) => /[^\x21-\x7e]/.test(value))?.[0];
  if (odd !== undefined) {
    throw new Fault('invalid_request', `${odd} has a space or another character that no key has; copy it again`);
  }
  return new S3Bucket(address, { accessKeyId, secretAccessKey, sessionToken }, undefined, ending);
}
