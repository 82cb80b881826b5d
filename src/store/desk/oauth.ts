import type { OAuthGrant, OAuthGrantTable } from '../../desk/papers/oauth.ts';
import type { OAuthClientTable } from '../../desk/papers/oauth-client.ts';
import { columnsOf, type Db, integer, json, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

const CLIENT = { id: text, name: text, redirect_uris: json<string[]>() };

/** Clients that registered themselves. */
export function oauthClientTable(db: Db): OAuthClientTable {
  const { run, insert, one, number } = sql(db);
  const add = insert('oauth_clients', { ...CLIENT, network: text, made_at: integer });
  return {
    insert: (client) => void add(client),
    find: one(`SELECT ${columnsOf(CLIENT)} FROM oauth_clients WHERE id = ?`, CLIENT),
    count: number('SELECT count(*) FROM oauth_clients'),
    countOf: number('SELECT count(*) FROM oauth_clients WHERE network = ? AND made_at > ?'),
    forget: run('DELETE FROM oauth_clients WHERE made_at < ? AND id NOT IN (SELECT client FROM oauth_grants)'),
  };
}

const GRANT = {
  code: text,
  client: text,
  client_name: text,
  paper: text,
  seat: text,
  level: oneOf('read', 'agent'),
  persona: orNull(text),
  redirect_uri: text,
  challenge: text,
  made_at: integer,
  expires_at: integer,
  key: orNull(text),
  rotation: orNull(text),
  refresh_expires_at: orNull(integer),
};

/** Clients that seats have authorized. */
export function oauthGrantTable(db: Db, transact: Transact): OAuthGrantTable {
  const { run, insert, one } = sql(db);
  const add = insert('oauth_grants', GRANT);
  const by = (column: string): ((value: string) => OAuthGrant | null) =>
    one(`SELECT ${columnsOf(GRANT)} FROM oauth_grants WHERE ${column} = ?`, GRANT);
  const set = run(
    `UPDATE oauth_grants SET key = ?2, access = ?3, access_expires_at = ?4, refresh = ?5, rotation = ?6,
       refresh_expires_at = ?7 WHERE code = ?1`,
  );
  const revokeKeys = run(
    `UPDATE keys SET revoked_at = ?1, revoked_by = 'key:' || id
     WHERE revoked_at IS NULL AND id IN (SELECT key FROM oauth_grants WHERE refresh_expires_at < ?1)`,
  );
  const remove = run('DELETE FROM oauth_grants WHERE coalesce(refresh_expires_at, expires_at) < ?');
  return {
    insert: (grant) => void add(grant),
    byCode: by('code'),
    byRefresh: by('refresh'),
    byAccess: by('access'),
    setTokens: (code, key, { access, access_expires_at, refresh, rotation, refresh_expires_at }) =>
      void set(code, key, access, access_expires_at, refresh, rotation, refresh_expires_at),
    forget: (before) =>
      transact(() => {
        revokeKeys(before);
        remove(before);
      }),
  };
}
