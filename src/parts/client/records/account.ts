/** Improves account pages, which also work without script. */

import { copyButtons } from './copy-buttons.ts';
import { dayPicker } from './day-picker.ts';
import { watchArrival } from './first-request.ts';
import { payWithWallet } from './wallet.ts';

for (const block of document.querySelectorAll<HTMLElement>('[data-copy]')) copyButtons(block);
for (const chart of document.querySelectorAll<HTMLElement>('figure.chart')) dayPicker(chart);
const steps = document.getElementById('start');
if (steps !== null) watchArrival(steps);
const payment = document.querySelector<HTMLTextAreaElement>('[data-offer]');
if (payment !== null) payWithWallet(payment);

// The result of an action is shown once: reloading does not show it again.
const address = new URL(location.href);
if (address.searchParams.has('answer')) {
  address.searchParams.delete('answer');
  history.replaceState(null, '', address);
}
