import type { Context } from 'hono';
import type { RecordsEnv } from '../env.ts';

export type RecordsContext = Context<RecordsEnv>;
