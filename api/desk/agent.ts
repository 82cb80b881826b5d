import { createRoute } from '@hono/zod-openapi';
import { currentAgreement } from '../../src/app/agreement.ts';
import { AgentCheck, agentCheck } from '../../src/desk/agent-check.ts';
import { signatureOf, signTerms, TermsAcceptance, TermsRecord, termsRecord } from '../../src/desk/terms.ts';
import { jsonBody } from '../middleware/json-body.ts';
import { needLevel, needs } from '../middleware/key.ts';
import { IDEMPOTENCY } from '../openapi/idempotency.ts';
import { body, faults, ok } from '../openapi/responses.ts';
import type { Doors } from './doors.ts';
import { archiveOf, linksFor, register } from './doors.ts';
import { Pressing } from './filing.ts';
import { keyed } from './route.ts';
import { write } from './write.ts';

const common = { tags: ['Agents'], security: keyed('read') };

const check = createRoute({
  ...common,
  method: 'get',
  path: '/api/v1/agent',
  operationId: 'checkAgent',
  summary: 'What your key is, and what to do next',
  description: 'Reaching it means that the key is in force and is one of this paper. Nothing is spent or written.',
  middleware: [needs('read')] as const,
  responses: { 200: ok(AgentCheck, 'The key, and where help is.'), ...faults() },
});

const terms = createRoute({
  ...common,
  method: 'get',
  path: '/api/v1/agent/terms',
  operationId: 'readTerms',
  summary: 'The agreement that an agent’s writes need',
  middleware: [needs('read')] as const,
  responses: { 200: ok(TermsRecord, 'The text in force, and whether this paper has signed it.'), ...faults() },
});

const accept = createRoute({
  ...common,
  method: 'post',
  path: '/api/v1/agent/terms/accept',
  operationId: 'acceptTerms',
  summary: 'Sign the agreement for the paper',
  security: keyed('admin'),
  description: 'The version must be the one in force.',
  middleware: [needs('admin'), jsonBody()] as const,
  request: { headers: IDEMPOTENCY, body: body(TermsAcceptance) },
  responses: {
    200: ok(TermsRecord.extend(Pressing).openapi('SignedTerms'), 'The agreement, signed.'),
    ...faults(409, 413, 415, 422),
  },
});

/** The agent check and the agreement. */
export function agentDoors(doors: Doors): void {
  const { store, settings, now } = doors.app;

  register(doors, check, (c) => {
    const key = needLevel(c.get('key'), 'read');
    const { slug, root, paper } = c.get('site');
    const signed = signatureOf(store.terms, currentAgreement(settings), slug) !== null;
    const avatar = key.persona === null ? null : linksFor(doors, c).avatar(key.persona);
    return agentCheck({ key, signed, avatar, root, contact: paper.contact ?? null });
  });

  register(doors, terms, (c) => {
    const agreement = currentAgreement(settings);
    return termsRecord(agreement, signatureOf(store.terms, agreement, c.get('site').slug));
  });

  register(doors, accept, (c) => {
    const { version, signed_by } = c.req.valid('json');
    return write(doors, c, (key) => {
      const agreement = currentAgreement(settings);
      const paper = archiveOf(doors, c).paper().slug;
      const signature = signTerms({
        terms: store.terms,
        agreement,
        paper,
        version,
        signed_by,
        key: key.id,
        now: now(),
      });
      return { status: 200, body: termsRecord(agreement, signature) };
    });
  });
}
