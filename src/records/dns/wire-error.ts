/** Bytes that are not a DNS message, or not a record of their type. Never leaves `readAnswer`. */
export class WireError extends Error {}
