import type { Edition } from '../edition.ts';
import type { Channel } from '../feeds/channel.ts';

/** The paper of an edition, as its feeds need it. */
export function channelOf(edition: Edition): Channel {
  const { root, hub = null } = edition.site;
  return { paper: edition.paper(), root, hub };
}
