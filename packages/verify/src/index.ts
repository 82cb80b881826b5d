// biome-ignore-all lint/performance/noBarrelFile: the entry of a bundle, which names what programs may import
export { keysOf, parseVkey, thumbprint, type VerifyingKey, vkey } from '../../../src/proof/keyring.ts';
export { LogFault } from '../../../src/proof/log/log-fault.ts';
export { nodeCrypto as logCrypto, readPolicy } from '../../../src/proof/log/node-crypto.ts';
export { verifyCheckpoint, verifyTlogProof } from '../../../src/proof/log/verify.ts';
export { type Note, parseNote } from '../../../src/proof/note.ts';
export { keysFromVkeys, type Proof, proofFaults } from '../../../src/proof/proof.ts';
export { parseReceipt } from '../../../src/proof/receipt.ts';
export { verifyEd25519 } from './ed25519.ts';
export { type Trust, type Verdict, verify } from './verify.ts';
