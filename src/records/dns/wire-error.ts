/** The bytes are not a DNS message, or not a record of the expected type. Never leaves `readAnswer`. */
export class WireError extends Error {}
