import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Paper } from '../desk/paper.ts';
import { paperRoot } from '../desk/paper.ts';
import { mailColors } from '../press/mail-colors.ts';
import type { Render } from '../press/output.ts';
import { alertContent } from '../readers/alert-content.ts';
import { alertMail } from '../readers/alert-mail.ts';
import { confirmContent, confirmMail } from '../readers/confirm-mail.ts';
import { manageToken } from '../readers/link.ts';
import type { Mail, MailRecord } from '../readers/mail.ts';
import type { MailContent } from '../readers/mail-content.ts';
import type { ReaderDesk } from '../readers/reader-desk.ts';
import type { Subscriber } from '../readers/subscriber.ts';
import { CONFIRM_LASTS, tokenHash, tokenOf } from '../readers/token.ts';
import type { AppContext } from './context.ts';

/** How many printed mails are kept: most readers get the same one but for their own links. */
const KEPT = 64;

interface Printed {
  matter: MailContent;
  html: string;
}

/** Makes mails as they are sent. */
export class MailRoom {
  readonly #app: AppContext;
  readonly #desk: ReaderDesk;
  readonly #render: Render;
  /** Stands for the reader's token in what is kept; no piece can know it. */
  readonly #blank = `reader-${randomBytes(16).toString('hex')}`;
  readonly #printed = new LRUCache<string, Promise<Printed | null>>({ max: KEPT });

  constructor(app: AppContext, desk: ReaderDesk, render: Render) {
    this.#app = app;
    this.#desk = desk;
    this.#render = render;
  }

  /** A mail as it is to be sent; null when its reader left, or there is nothing to tell any more. */
  async compose(mail: MailRecord): Promise<Mail | null> {
    const { subscribers, suppressions } = this.#desk;
    const row = subscribers.byId(mail.subscriber);
    const paper = this.#app.store.paper(mail.paper);
    if (row === null || paper === null) return null;
    if (mail.kind === 'confirm') return this.#confirm(mail, row, paper);
    if (row.confirmed_at === null || suppressions.of(row.paper, row.reader) !== null) return null;
    return this.#alert(mail, row, paper);
  }

  /** The token of its link is kept, by its hash, before it goes out. */
  async #confirm(mail: MailRecord, row: Subscriber, paper: Paper): Promise<Mail> {
    const { secret, tokens, now } = this.#desk;
    const token = tokenOf(secret, 'confirm', mail.id);
    tokens.keep({
      hash: tokenHash(token),
      paper: mail.paper,
      reader: row.reader,
      purpose: 'confirm',
      expires_at: now() + CONFIRM_LASTS,
      used_at: null,
    });
    const root = mailRoot(paper, this.#app.settings.origin);
    const sender = { nameplate: paper.nameplate, contact: paper.contact, root };
    const matter = { ...confirmContent(row, sender, token), ...mailPaper(paper, this.#app.settings.origin) };
    return confirmMail(mail, row.email, sender, matter, await this.#print(paper, matter));
  }

  async #alert(mail: MailRecord, row: Subscriber, paper: Paper): Promise<Mail | null> {
    const events = this.#app.store.alerts.eventsOf(mail.id);
    const key = [mail.paper, paper.edition, mail.kind, mail.about, ...events].join(' ');
    let made = this.#printed.get(key);
    if (made === undefined) {
      made = this.#matter(mail, paper, events);
      this.#printed.set(key, made);
      // What failed is made anew the next time.
      made.catch(() => this.#printed.delete(key));
    }
    const printed = await made;
    if (printed === null) return null;
    const token = manageToken(this.#desk, row.paper, row.reader);
    const own = (text: string) => text.replaceAll(this.#blank, token);
    const { manage_url, unsubscribe_url } = printed.matter;
    const matter = {
      ...printed.matter,
      manage_url: own(manage_url ?? ''),
      unsubscribe_url: own(unsubscribe_url ?? ''),
    };
    const root = mailRoot(paper, this.#app.settings.origin);
    return alertMail(mail, row.email, { ...paper, root }, matter, own(printed.html));
  }

  async #matter({ kind, about }: MailRecord, paper: Paper, places: number[]): Promise<Printed | null> {
    const { store, settings } = this.#app;
    const root = mailRoot(paper, settings.origin);
    const told = alertContent(store.archive(paper.slug), paper, root, {
      kind,
      about,
      events: store.alerts.eventsAt(places),
    });
    if (told === null) return null;
    const matter = {
      ...told,
      ...mailPaper(paper, settings.origin),
      manage_url: `${root}/subscribe/manage?token=${this.#blank}`,
      unsubscribe_url: `${root}/subscribe/unsubscribe?token=${this.#blank}`,
    };
    return { matter, html: await this.#print(paper, matter) };
  }

  #print(paper: Paper, matter: MailContent): Promise<string> {
    return this.#render('/paper/mail', { ...matter, colors: mailColors(paper.hue) });
  }
}

/** What every mail says of its paper. */
export function mailPaper(paper: Paper, origin: string): Pick<MailContent, 'language' | 'home_url'> {
  return { language: paper.language, home_url: paper.paper_public ? `${mailRoot(paper, origin)}/` : null };
}

/** A paper's root as mails name it. A private paper shows itself on no domain of its own; its readers' pages are on the shared host. */
export function mailRoot(paper: Paper, origin: string): string {
  return paper.paper_public ? paperRoot(paper, origin) : `${origin}/${paper.slug}`;
}
