import type { OpenAPIHono } from '@hono/zod-openapi';
import type { PaperEnv } from '../../env.ts';
import { type DoorParts, doorFaults } from './door-page.ts';
import { signInRoutes } from './sign-in.ts';

/** Adds the routes that are open without signing in. They run after `consoleSession`. */
export function registerDoor(router: OpenAPIHono<PaperEnv>, parts: DoorParts): void {
  router.use('/console/*', doorFaults(parts));
  for (const [method, path, before, handle] of signInRoutes(parts)) {
    router.on(method, [`/console/${path}`], ...before, handle);
  }
}
