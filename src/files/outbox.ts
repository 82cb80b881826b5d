import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Mailer } from '../outbound/mail.ts';
import { makeFolder, putFile } from './durable-file.ts';

/**
 * Writes mails into a folder, one `.eml` each, where no mail server is set. The
 * name is that of the Message-ID: a mail that is sent again takes its own place.
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
      // What is noted as sent is there: nobody sends it again.
      putFile(join(folder, `${name}.eml`), (aside) => writeFileSync(aside, message as Buffer, { mode: 0o600 }));
    },
  };
}
