/** Bytes that are no DNS message, or no record of their type. Never leaves `readAnswer`. */
export class WireError extends Error {}
