import { LRUCache } from 'lru-cache';
import { OAuthFault } from '../../../src/desk/papers/oauth.ts';
import {
  CLIENTS_MAX,
  clientFrom,
  clientOfDocument,
  isDocumentAddress,
  type OAuthClient,
  REGISTRATIONS_MAX,
  type RegisteredClient,
  UNUSED_TTL,
} from '../../../src/desk/papers/oauth-client.ts';
import { DAY, MINUTE } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Busy, caught, Fault } from '../../../src/shared/fault.ts';
import { clientOptions, outboundClient } from '../../../src/shared/net/outbound-client.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { VERSION } from '../../../src/shared/project.ts';
import { parseJson } from '../../middleware/json-body.ts';

/** The largest metadata document, in bytes. */
const DOCUMENT_MAX = 16 * 1024;

/** Registers clients, and finds them again. */
export class Clients {
  readonly #app: Pick<AppContext, 'store' | 'settings' | 'clock'>;
  readonly #get: ReturnType<typeof outboundClient>;
  readonly #documents = new LRUCache<string, OAuthClient>({ max: 100, ttl: 5 * MINUTE });

  constructor(app: Pick<AppContext, 'store' | 'settings' | 'clock'>) {
    this.#app = app;
    const { origin, webhookPrivate } = app.settings;
    const options = clientOptions(`Broadsheet/${VERSION} (+${origin})`, webhookPrivate);
    this.#get = outboundClient({ ...options, answerMax: DOCUMENT_MAX, deadline: 5_000, answerWait: 5_000 });
  }

  /** Registers a client (RFC 7591). Throws `rate_limited`, `unavailable` and what `clientFrom` throws. */
  async register(metadata: unknown, network: string): Promise<RegisteredClient> {
    const { store, clock } = this.#app;
    const table = store.desk.oauthClients;
    const client = { ...clientFrom(metadata), id: newId(), network, made_at: clock.now() };
    return store.database.lock.patiently(() =>
      store.database.transact(() => {
        table.forget(client.made_at - UNUSED_TTL);
        if (table.countOf(network, client.made_at - DAY) >= REGISTRATIONS_MAX) {
          const message = `${REGISTRATIONS_MAX} clients registered from your network within a day; keep the client_id that you were given, or use a key of the paper`;
          throw new Fault('rate_limited', message);
        }
        if (table.count() >= CLIENTS_MAX) throw new Busy('too many clients registered here; try again tomorrow');
        table.insert(client);
        return client;
      }),
    );
  }

  /** The client of an id: a registered one, or that of the metadata document at this address. Throws `invalid_client`. */
  async find(id: string): Promise<OAuthClient> {
    const { store, settings } = this.#app;
    if (!isDocumentAddress(id, settings.webhookPrivate)) {
      const found = store.desk.oauthClients.find(id);
      if (found !== null) return found;
      throw new OAuthFault('invalid_client', 'client_id is not known here; register the client again');
    }
    const held = this.#documents.get(id) ?? (await this.#read(id));
    this.#documents.set(id, held);
    return held;
  }

  async #read(id: string): Promise<OAuthClient> {
    const { error, bytes } = await this.#get(id, { method: 'GET', headers: { Accept: 'application/json' } });
    if (error !== null || bytes === null) {
      const why = error ?? `has more than ${DOCUMENT_MAX} bytes`;
      throw new OAuthFault('invalid_client', `the document at ${id} could not be read (${why})`);
    }
    const document = caught(Fault, () => parseJson(new Uint8Array(bytes)));
    if (document instanceof Fault) throw new OAuthFault('invalid_client', `the document at ${id}: ${document.message}`);
    return clientOfDocument(id, document);
  }
}
