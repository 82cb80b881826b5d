import assert from 'node:assert/strict';
import { test } from 'node:test';
import { concatHex, encodeAbiParameters, encodeFunctionData, hashTypedData, parseAbi, recoverAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { decodePayment, type Payment } from '../../src/records/meter/payment.ts';
import {
  bytesArgument,
  hex,
  readBytesArgument,
  selector,
  signatureForContract,
  signerOf,
  transferDigest,
  word,
} from '../../src/records/meter/transfer-signature.ts';
import * as fc from '../support/properties.ts';
import { OFFER, samplePayment } from '../support/sample-payment.ts';

const bytes = (size: number) =>
  fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((array): `0x${string}` => `0x${Buffer.from(array).toString('hex')}`);
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

/** The typed data that viem, an implementation of somebody else's, takes for a payment of the offer. */
function typedData({ transfer: { authorization } }: Payment) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return {
    domain: {
      name: OFFER.asset.name,
      version: OFFER.asset.version,
      chainId: 84_532,
      verifyingContract: OFFER.asset.address as `0x${string}`,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from as `0x${string}`,
      to: to as `0x${string}`,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as `0x${string}`,
    },
  } as const;
}

test('what a payer signs is what viem makes of the same authorization', () => {
  const fields = fc.record({ from: bytes(20), to: bytes(20), value: uint, validBefore: uint, nonce: bytes(32) });
  fc.assert(
    fc.property(fields, ({ value, validBefore, ...rest }) => {
      const odd = { ...rest, value: String(value), validBefore: String(validBefore) };
      const payment = decodePayment(samplePayment(1, {}, odd), 1);
      assert.equal(hex(transferDigest(payment, OFFER)), hashTypedData(typedData(payment)));
    }),
  );
});

test('the signer recovered from a signature agrees with viem, for either spelling of its last byte', async () => {
  for (let n = 0; n < 20; n++) {
    const payer = privateKeyToAccount(generatePrivateKey());
    const payment = decodePayment(samplePayment(1, {}, { from: payer.address }), 1);
    const digest = transferDigest(payment, OFFER);
    const signature = await payer.signTypedData(typedData(payment));
    assert.equal(signerOf(digest, signature), payer.address.toLowerCase());
    const v = (Number.parseInt(signature.slice(-2), 16) - 27).toString(16).padStart(2, '0');
    assert.equal(signerOf(digest, signature.slice(0, -2) + v), payer.address.toLowerCase());
    const other = Buffer.from(digest).reverse();
    assert.equal(signerOf(other, signature), (await recoverAddress({ hash: other, signature })).toLowerCase());
  }
});

const NONE: [name: string, signature: string][] = [
  ['zeros', `0x${'00'.repeat(65)}`],
  ['ones', `0x${'ff'.repeat(65)}`],
  ['64 bytes', `0x${'11'.repeat(64)}`],
  ['66 bytes', `0x${'11'.repeat(66)}`],
  ['an unknown last byte', `0x${'11'.repeat(64)}1d`],
  ['r above the field', `0x${'ff'.repeat(32)}${'11'.repeat(32)}1b`],
];
for (const [name, signature] of NONE) {
  test(`no signer: ${name}`, () => assert.equal(signerOf(Buffer.alloc(32, 7), signature), null));
}

test('arguments are encoded as viem encodes them', () => {
  const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature)']);
  fc.assert(
    fc.property(bytes(32), fc.uint8Array({ maxLength: 200 }), (digest, signature) => {
      const args = [digest, hex(signature) as `0x${string}`] as const;
      const ours = hex(selector('isValidSignature(bytes32,bytes)'), word(digest), word(64n), bytesArgument(signature));
      assert.equal(ours, encodeFunctionData({ abi, args }));
    }),
  );
  assert.throws(() => word(2n ** 256n), RangeError);
  assert.throws(() => word(-1n), RangeError);
});

const WRAPPING = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;

test('a contract is given the signature without how it is deployed (ERC-6492)', () => {
  fc.assert(
    fc.property(
      bytes(20),
      fc.uint8Array({ maxLength: 100 }),
      fc.uint8Array({ minLength: 1 }),
      (to, data, signature) => {
        const inner = hex(signature) as `0x${string}`;
        const wrapped = encodeAbiParameters(WRAPPING, [to, hex(data) as `0x${string}`, inner]);
        assert.equal(hex(signatureForContract(concatHex([wrapped, `0x${'6492'.repeat(16)}`]))), inner);
      },
    ),
  );
});

test('bytes that are not encoded so are left as they are, and none is read past the end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(5), (data, index) => {
      const read = readBytesArgument(data, index);
      assert.ok(read === null || read.length <= data.length);
      const signature = `${hex(data)}${'6492'.repeat(16)}`;
      const given = hex(signatureForContract(signature));
      assert.ok(signature.includes(given.slice(2)));
    }),
  );
});
