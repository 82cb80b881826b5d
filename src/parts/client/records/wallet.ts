/** What the wallet signs: see `toSign` in api/records/account/plans.ts. */
interface ToSign {
  network: string;
  chain: number;
  token: { name: string; version: string; address: string };
  pay_to: string;
  units: string;
  seconds: number;
}

/** A wallet in the browser (EIP-1193). */
interface Wallet {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
}

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];
const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
/** How far the clocks of the payer and the chain may differ, in seconds. */
const LEEWAY = 600;

/**
 * Lets a wallet sign the payment, and sends the form. The signed payment stays in its field, so that it can be sent
 * again.
 */
export function payWithWallet(field: HTMLTextAreaElement): void {
  const wallet = (globalThis as { ethereum?: Wallet }).ethereum;
  const place = document.querySelector<HTMLElement>('[data-wallet]');
  const button = place?.querySelector('button');
  const status = place?.querySelector('[role=status]');
  if (wallet === undefined || place == null || button == null || status == null) return;
  place.hidden = false;
  button.addEventListener('click', async () => {
    button.disabled = true;
    status.textContent = 'Your wallet asks you to sign the transfer.';
    try {
      field.value = await signed(wallet, JSON.parse(field.dataset.offer ?? '') as ToSign);
      status.textContent = 'Signed. The payment is being made; this takes some seconds.';
      field.form?.requestSubmit();
    } catch (error) {
      button.disabled = false;
      const why = error instanceof Object && 'message' in error ? String(error.message) : '';
      status.textContent = `Nothing was signed. ${why.slice(0, 200)}`;
    }
  });
}

async function signed(wallet: Wallet, offer: ToSign): Promise<string> {
  const [from] = (await wallet.request({ method: 'eth_requestAccounts' })) as string[];
  if (from === undefined) throw new Error('The wallet has no account.');
  await wallet.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: `0x${offer.chain.toString(16)}` }],
  });
  const now = Math.floor(Date.now() / 1_000);
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0'));
  const authorization = {
    from,
    to: offer.pay_to,
    value: offer.units,
    validAfter: String(now - LEEWAY),
    validBefore: String(now + offer.seconds),
    nonce: `0x${nonce.join('')}`,
  };
  const { name, version, address: verifyingContract } = offer.token;
  const data = {
    types: { EIP712Domain: DOMAIN, TransferWithAuthorization: FIELDS },
    primaryType: 'TransferWithAuthorization',
    domain: { name, version, chainId: offer.chain, verifyingContract },
    message: authorization,
  };
  const signature = await wallet.request({ method: 'eth_signTypedData_v4', params: [from, JSON.stringify(data)] });
  const payment = { x402Version: 1, scheme: 'exact', network: offer.network, payload: { signature, authorization } };
  return btoa(JSON.stringify(payment));
}
