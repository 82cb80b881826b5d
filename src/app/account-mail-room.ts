import type { AccountMailRecord } from '../accounts/account-mail.ts';
import type { AccountMailContent } from '../accounts/account-mail-content.ts';
import { accountMailText } from '../accounts/account-mail-content.ts';
import { changeContent } from '../accounts/change-mail.ts';
import { mailedToken } from '../accounts/mailed-token.ts';
import { signInContent } from '../accounts/sign-in-mail.ts';
import type { Mail } from '../readers/mail.ts';
import { changeLine } from '../records/change-line.ts';
import { isoTime } from '../time.ts';
import type { AccountDesk } from './account-desk.ts';
import type { Build } from './build.ts';

/** A mail's matter, with what goes into its head beside it. */
interface Letter {
  subject: string;
  matter: AccountMailContent;
  headers?: Record<string, string>;
}

/** Makes the mails of the domain records as they are sent. */
export class AccountMailRoom {
  readonly #desk: AccountDesk;
  readonly #render: Build['render'];
  /** Public address of the service, without a slash at its end. */
  readonly #root: string;

  constructor(desk: AccountDesk, render: Build['render'], root: string) {
    this.#desk = desk;
    this.#render = render;
    this.#root = root;
  }

  /** A mail as it is to be sent; null when its time is over, or there is nothing to tell any more. */
  async compose(mail: AccountMailRecord): Promise<Mail | null> {
    const letter = this.#letter(mail);
    if (letter === null) return null;
    const { subject, matter, headers = {} } = letter;
    const host = new URL(this.#root).hostname;
    return {
      from: { name: 'Domain Records', address: `no-reply@${host}` },
      to: mail.email,
      subject,
      text: accountMailText(matter),
      html: await this.#render('/account/mail', matter),
      messageId: `<${mail.id}@${host}>`,
      // RFC 3834, section 5: no vacation notice is to answer it.
      headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    };
  }

  #letter(mail: AccountMailRecord): Letter | null {
    return mail.kind === 'sign-in' ? this.#toSignIn(mail) : this.#changes(mail, mail.kind);
  }

  #toSignIn(mail: AccountMailRecord): Letter | null {
    const asked = this.#desk.signIns.byId(mail.id);
    if (asked === null || asked.used_at !== null || asked.expires_at <= this.#desk.now()) return null;
    const matter = signInContent(this.#root, mail.email, mailedToken(this.#desk.secret, 'sign-in', mail.id));
    return { subject: 'Your link to sign in', matter };
  }

  /** Null when the reader ended these mails meanwhile, or every host of it opted out. */
  #changes({ id, account }: AccountMailRecord, kind: 'changes' | 'digest'): Letter | null {
    const { alerts, queue, secret } = this.#desk;
    const isWanted = alerts.list(account ?? '').some(({ way, off_at }) => way !== 'webhook' && off_at === null);
    const changes = queue.toldBy(id);
    if (!isWanted || changes.length === 0) return null;
    const unsubscribe = `${this.#root}/account/unsubscribe?account=${account}&token=${mailedToken(secret, 'unsubscribe', account ?? '')}`;
    const told = changes.map((delta) => ({
      hostname: delta.domain,
      line: changeLine(delta),
      at: isoTime(delta.at),
    }));
    const { subject, matter } = changeContent(kind, told, { root: this.#root, unsubscribe });
    const headers = {
      // RFC 2919: a name of the list that stays.
      'List-Id': `<changes.${new URL(this.#root).hostname}>`,
      'List-Unsubscribe': `<${unsubscribe}>`,
      // RFC 8058, section 2: a POST of this to the address above ends it, with no page between.
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    };
    return { subject, matter, headers };
  }
}
