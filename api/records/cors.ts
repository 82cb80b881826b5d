import type { CorsRules } from '../middleware/cors.ts';

/** CORS rules of the domain records. */
export const CORS: CorsRules = {
  methods: 'GET, HEAD, POST, PATCH, DELETE',
  sends: [
    'Authorization, X-Service-Key, X-PAYMENT, PAYMENT-SIGNATURE, Content-Type, If-None-Match, Last-Event-ID, Prefer',
    'Idempotency-Key',
    'MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name',
  ].join(', '),
  reads: [
    'ETag, Link, Location, Retry-After, X-Request-Id, X-PAYMENT-RESPONSE, PAYMENT-REQUIRED, PAYMENT-RESPONSE',
    'Preference-Applied',
    'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
    'X-Service-Usage, X-Service-Usage-Day, X-Service-Usage-Period, X-Service-Daily-Allowance, X-Service-Daily-Remaining',
    'X-Service-Daily-Reset, X-Service-Credits-Allowance, X-Service-Credits-Used, X-Service-Credits-Remaining',
    'X-Service-Credits-Reset, X-Service-Allowance, X-Service-Remaining, X-Service-Reset, X-Service-Burst',
  ].join(', '),
};
