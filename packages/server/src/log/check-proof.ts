import { readFileSync } from 'node:fs'
import { AuditProof, GatehouseError, type HeadProof } from '@gatehouse/contract'
import { createLinker, leafOf } from '../domain/audit/chain.ts'
import { leafOfHead } from '../domain/audit/heads-root.ts'
import { verifyInclusion } from '../domain/audit/proofs.ts'
import { originOf } from './checkpoints.ts'
import { readIfThere } from './files.ts'
import { hashing } from './hashing.ts'
import { parsePublicKey, type Verifier } from './keys.ts'
import { type Checkpoint, readCheckpoints } from './note.ts'
import { keyPrint } from './recorded-root.ts'
import { readRoots } from './root-note.ts'

export type ProofReport = {
  readonly valid: boolean
  /** Why it is not valid, or what it rests on. */
  readonly detail: string
  readonly seq: number
  readonly size: number
  readonly entry: Readonly<Record<string, unknown>>
  /** The root over all logs that the proof leads to, its signer, and how many entries the log of this one had under it. */
  readonly all_logs?: Pick<HeadProof, 'root' | 'logs' | 'chain'> & { readonly size: number }
}

const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}

const proofIn = (file: string): AuditProof => {
  const text = readIfThere(file)?.toString('utf8')
  if (text === undefined) return refuse(file, 'no such file')
  try {
    return AuditProof.parse(JSON.parse(text))
  } catch {
    return refuse(file, 'this is no proof of an audit entry')
  }
}

const readKey = (file: string): Verifier => parsePublicKey(readFileSync(file, 'utf8'), file)

/** Why a root over all logs has no log of this key and origin under it, or null. */
const misfitUnderRoot = (
  { head, index, logs, root, proof, note, chain }: HeadProof,
  signer: Verifier,
  log: Verifier,
  origin: string,
): string | null => {
  const signed = readRoots(note, (name) => (name === chain ? signer : null))
  if (!signed.some((one) => one.root === root && one.logs === logs))
    return 'the root over all logs is not signed by this key'
  const leaf = leafOfHead(hashing, head)
  if (!verifyInclusion(hashing, { leaf, index, size: logs, proof, root }))
    return 'the hashes do not lead from the log of the entry to the root over all logs'
  const name = originOf(head.chain, 0)
  const isOfLog = origin === name || origin.startsWith(`${name}/`)
  if (!isOfLog || keyPrint(log.raw) !== head.key)
    return 'the root over all logs is about another log, or another key of it'
  return null
}

/** Why an entry is not in the tree of its checkpoint, or null. */
const misfitInLog = (
  { body, seq, size, leaf, root, proof }: AuditProof,
  signed: Checkpoint | undefined,
): string | null => {
  if (!signed) return 'the checkpoint is not signed by this key'
  if (signed.size !== size || signed.root !== root) return 'the checkpoint is about another tree'
  if (leafOf(createLinker(hashing), seq, body) !== leaf)
    return 'the entry is not the one that was hashed'
  if (!verifyInclusion(hashing, { leaf, index: seq, size, proof, root }))
    return 'the hashes do not lead from the entry to the root'
  return null
}

/** Keys that a valid proof rests on, where its checkpoint was signed by `log` and its root over all logs by `signer`. */
const restsOn = (given: Verifier | null, log: Verifier, signer: Verifier | undefined): string => {
  if (!given) return 'signed by the key that came with the proof'
  if (!given.raw.equals(log.raw))
    return 'signed by the key that its log has under the root over all logs, and the root by the key that was given'
  return !signer || signer.raw.equals(given.raw)
    ? 'signed by the key that was given'
    : 'signed by the key that was given; the root over all logs by one that came with the proof'
}

/** Checks a proof with nothing but its file, and a public key that was kept apart: of the log, or of the signer of the root. */
export const checkProof = (file: string, publicKeyFile?: string): ProofReport => {
  const proof = proofIn(file)
  const { all_logs } = proof
  const given = publicKeyFile === undefined ? null : readKey(publicKeyFile)
  const signer = all_logs && parsePublicKey(all_logs.public_key, file)
  // @SECURITY The key of another log vouches for this one by way of the root alone; signed-roots.test.ts.
  const isOfLog = given !== null && !signer?.raw.equals(given.raw)
  const key = isOfLog ? given : parsePublicKey(proof.public_key, file)
  const [checkpoint] = readCheckpoints(proof.checkpoint, key)
  const misfit =
    misfitInLog(proof, checkpoint) ??
    (all_logs && signer ? misfitUnderRoot(all_logs, signer, key, checkpoint?.origin ?? '') : null)
  return {
    valid: misfit === null,
    detail: misfit ?? restsOn(given, key, signer),
    seq: proof.seq,
    size: proof.size,
    entry: entryOf(proof.body),
    ...(all_logs && misfit === null
      ? {
          all_logs: {
            root: all_logs.root,
            logs: all_logs.logs,
            chain: all_logs.chain,
            size: all_logs.head.size,
          },
        }
      : {}),
  }
}

const entryOf = (body: string): Record<string, unknown> => {
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return {}
  }
}
