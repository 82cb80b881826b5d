import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mailer } from '../outbound/mail.ts';
import { makeFolder, putFile } from './durable-file.ts';

/**
 * Writes mails into a folder, one `.eml` file each, when no mail server is configured. Files are named after the
 * Message-ID, so that a mail sent again replaces itself.
 */
export function outboxFolder(folder: string): Mailer {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'unix',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      const { message } = await transport.sendMail({ ...mail, to: { name: '', address: mail.to } });
      makeFolder(folder, 0o700);
      const name = mail.messageId.replace(/^<|@.*$/g, '');
      // Durable before the mail is marked as sent, because it is never sent again.
      putFile(join(folder, `${name}.eml`), (aside) => writeFileSync(aside, message as Buffer, { mode: 0o600 }));
    },
  };
}
