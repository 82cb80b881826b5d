/** A reason why nothing was created, in one line that says what to do. */
export class Refusal extends Error {}
