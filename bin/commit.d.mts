export function commitOf(project: string): string | undefined;
