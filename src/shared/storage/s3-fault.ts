import { DAY, HOUR, MINUTE } from '../../proof/time.ts';
import { Fault } from '../fault.ts';
import type { S3Address } from './address.ts';
import type { S3Error } from './s3-documents.ts';

interface Refusal {
  method: string;
  key: string;
  status: number;
  error: S3Error | null;
  headers: Headers;
}

/** The fault for what a store refused, with the cure. */
export function s3Fault(address: S3Address, refusal: Refusal): Fault {
  const { endpoint, bucket, region } = address;
  const { method, key, status, error, headers } = refusal;
  const what = `${method} s3://${bucket}/${key} at ${endpoint}`;
  switch (error?.code) {
    case 'NoSuchBucket':
      return fault(`there is no bucket ${bucket} at ${endpoint}; create it, or correct the address`);
    case 'InvalidAccessKeyId':
    case 'SignatureDoesNotMatch':
    case 'InvalidToken':
      return fault(
        `${endpoint} does not accept the credentials (${error.code}); correct AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN`,
      );
    case 'ExpiredToken':
    case 'TokenRefreshRequired':
      return fault(`the credentials for ${endpoint} have expired; set new ones in the AWS variables`);
    case 'RequestTimeTooSkewed':
    case 'RequestExpired':
      return fault(`${endpoint} rejects the time of this machine${skew(headers)}; set its clock, as by NTP`);
    case 'PermanentRedirect':
    case 'TemporaryRedirect':
    case 'AuthorizationHeaderMalformed':
    case 'IllegalLocationConstraintException': {
      const right = headers.get('x-amz-bucket-region');
      return fault(
        `the bucket ${bucket} is not in the region ${region}; give ?region=${right ?? '…'} in the address${right === null ? ', as the console of the store shows it' : ''}`,
      );
    }
    case 'NotImplemented':
      return fault(
        `${what} is not implemented by this store (${shown(error.message)}); a store must support conditional PUT (If-Match, If-None-Match)`,
      );
  }
  if (status === 403 || error?.code === 'AccessDenied') {
    return fault(
      `the credentials may not ${what} (${error?.code ?? 'status 403'}); allow them GetObject, PutObject, DeleteObject and ListBucket`,
    );
  }
  if (error === null && status >= 300 && status < 400) {
    const to = headers.get('location');
    return fault(`${endpoint} redirects${to === null ? '' : ` to ${shown(to)}`}; correct the endpoint`);
  }
  if (error === null && status >= 400 && status < 500 && !AGAIN.has(status)) {
    return notStorage(address, { method, key, status });
  }
  const said = error === null ? `status ${status}` : `status ${status}, ${error.code}: ${shown(error.message)}`;
  const cure = status < 500 && !AGAIN.has(status) ? 'correct what it says' : 'try again later';
  return fault(`${what} failed (${said}); ${cure}`);
}

/** The fault for a response that did not come from object storage; `wanted` is what was asked for. */
export function notStorage(
  { endpoint, bucket }: S3Address,
  { method, key, status, wanted }: Pick<Refusal, 'method' | 'key' | 'status'> & { wanted?: string | undefined },
): Fault {
  const isNot = wanted === undefined ? '' : ` and not ${wanted}`;
  return fault(
    `what ${endpoint} answers to ${method} s3://${bucket}/${key} (status ${status}) is no answer of object storage${isNot}; check the endpoint, and what is between it and this machine`,
  );
}

/** Statuses below 500 after which a request may succeed later. */
const AGAIN = new Set([408, 429]);
/** The longest text of a store's own error that a message repeats, in UTF-16 units. */
const SHOWN_MAX = 200;

function shown(text: string): string {
  return text.slice(0, SHOWN_MAX).replaceAll(/[\s\p{C}]+/gu, ' ');
}

function fault(message: string): Fault {
  return new Fault('unavailable', message);
}

/** How far this machine's clock is from the store's. */
function skew(headers: Headers): string {
  const ms = Date.now() - Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(ms)) return '';
  const [unit, name] =
    Math.abs(ms) < 2 * HOUR ? [MINUTE, 'minutes'] : Math.abs(ms) < 2 * DAY ? [HOUR, 'hours'] : [DAY, 'days'];
  return `, which is ${Math.round(Math.abs(ms) / unit)} ${name} ${ms > 0 ? 'ahead' : 'behind'}`;
}
