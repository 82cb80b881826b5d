import { AUTO_GENERATED } from '../outbound/letter.ts';
import type { RecordsLetter } from './records-letter.ts';

/** The mail with a sign-in link. `root` is the service's address, without a trailing slash. */
export function signInMail(root: string, email: string, token: string): RecordsLetter {
  return {
    subject: 'Your link to sign in',
    headers: AUTO_GENERATED,
    content: {
      preview: 'The link holds for 30 minutes, once.',
      heading: 'Sign in to Domain Records',
      paragraphs: [
        `Somebody, you we hope, asked to sign in with ${email}.`,
        'The link opens a page with one button, which signs you in there. It holds for 30 minutes and works once. If there is no account of this address yet, the button makes it.',
      ],
      button: { url: `${root}/account/enter?token=${token}`, label: 'Sign in' },
      reason: 'If it was not you, do nothing: without that button nobody is signed in, and nothing was changed.',
    },
  };
}
