import * as z from 'zod';
import { isOneOf } from '../../proof/narrow.ts';
import { duration, host, networks, origin, originAt, port } from './variable.ts';

/** The default ports of the two services. */
export const DESK_PORT = 4321;
const RECORDS_PORT = 4322;

/** The services that a process can run. */
const SERVICES = ['desk', 'records'] as const;

/** Which services run, and where they listen. */
export const services = z
  .object({
    /**
     * Public address of the news desk; papers without their own domain are served under it. Defaults to HOST and PORT.
     */
    ORIGIN: origin(),
    /** Address to listen on. */
    HOST: host(),
    /** Port of the news desk; 0 picks a free one, which is printed. */
    PORT: port(),
    /** Public address of the domain-records service. Defaults to HOST and RECORDS_PORT. */
    DATA_ORIGIN: origin(),
    /** Port of the domain records; 0 picks a free one, which is printed. */
    RECORDS_PORT: port(),
    /** The services that this process runs, separated by commas: `desk`, `records`. */
    SERVICES: z
      .string()
      .default('desk,records')
      .transform((text) => text.split(',').map((name) => name.trim()))
      .refine(
        (names) => names.every((name) => isOneOf(SERVICES, name)),
        'must be desk, records, or both separated by a comma',
      ),
    /**
     * Addresses or networks of reverse proxies whose X-Forwarded-For is trusted, separated by commas. An unlisted proxy
     * on this machine defeats every limit by address.
     */
    TRUSTED_PROXIES: networks(),
    /**
     * How long a stopping server keeps answering while `/ready` returns 503, so that load balancers send requests
     * elsewhere before it closes its port. Zero without one in front.
     */
    SHUTDOWN_GRACE: duration('0s', 0, 1),
  })
  .transform((env) => ({
    origin: env.ORIGIN ?? originAt(env.HOST, env.PORT || DESK_PORT),
    host: env.HOST,
    port: env.PORT ?? DESK_PORT,
    dataOrigin: env.DATA_ORIGIN ?? originAt(env.HOST, env.RECORDS_PORT || RECORDS_PORT),
    recordsPort: env.RECORDS_PORT ?? RECORDS_PORT,
    /**
     * True when neither variable sets the origin: then the address of a server that listens now, or listened last, is
     * used.
     */
    assumed: { origin: !(env.ORIGIN || env.PORT), dataOrigin: !(env.DATA_ORIGIN || env.RECORDS_PORT) },
    services: { desk: env.SERVICES.includes('desk'), records: env.SERVICES.includes('records') },
    trustedProxies: env.TRUSTED_PROXIES,
    shutdownGrace: env.SHUTDOWN_GRACE,
  }));
