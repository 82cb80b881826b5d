declare namespace App {
  interface Locals {
    /** What the page shows: the member of `Pages` for its route. */
    view: unknown;
  }
}
