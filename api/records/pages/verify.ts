import type { RecordsDoors } from '../route.ts';
import { frameOf } from './frame.ts';
import { openPage, sendPage } from './page.ts';

/** The page on which a reader's browser checks what the service gave out. */
export function verifyDoor(doors: RecordsDoors): void {
  openPage(doors, '/verify', async (c) => {
    const frame = frameOf(doors.app, c, {
      title: 'Verify a receipt, a record or a bundle · Domain Records',
      description:
        'Checks a signed observation of a hostname in your browser: signature, Merkle root, chain. Nothing is sent anywhere.',
      path: '/verify',
    });
    const page = await sendPage(doors, c, '/records/verify', { frame });
    // What a reader links to may be anywhere that lets other pages read it.
    const policy = page.headers.get('Content-Security-Policy') ?? '';
    page.headers.set('Content-Security-Policy', policy.replace("connect-src 'self'", "connect-src 'self' https:"));
    return page;
  });
}
