import { ServerResponse } from 'node:http';

/** Whether a server sends its callers away: from then on each response ends its connection. */
export interface Draining {
  isOn: boolean;
}

const KEPT = Symbol('whether the caller wants to keep the connection');

/**
 * A class of responses that close their connections once `draining` is on, also those whose requests came before. Node
 * reads `shouldKeepAlive` when it writes the headers.
 */
export function drainingResponse(draining: Draining): typeof ServerResponse {
  class DrainingResponse extends ServerResponse {
    // Node's constructor assigns it before any field of this class exists.
    declare [KEPT]: boolean;
  }
  Object.defineProperty(DrainingResponse.prototype, 'shouldKeepAlive', {
    get(this: DrainingResponse) {
      return this[KEPT] && !draining.isOn;
    },
    set(this: DrainingResponse, value: boolean) {
      this[KEPT] = value;
    },
  });
  return DrainingResponse as typeof ServerResponse;
}
