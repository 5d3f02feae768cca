import { readFileSync } from 'node:fs'
import { AuditProof, GatehouseError } from '@gatehouse/contract'
import { createLinker, leafOf } from '../domain/audit/chain.ts'
import { verifyInclusion } from '../domain/audit/proofs.ts'
import { readIfThere } from './files.ts'
import { hashing } from './hashing.ts'
import { parsePublicKey } from './keys.ts'
import { readCheckpoints } from './note.ts'

export type ProofReport = {
  readonly valid: boolean
  /** Why it is not valid, or what it rests on. */
  readonly detail: string
  readonly seq: number
  readonly size: number
  readonly entry: Readonly<Record<string, unknown>>
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

/** Checks a proof with nothing but its file, and the public key where one was kept apart. */
export const checkProof = (file: string, publicKeyFile?: string): ProofReport => {
  const proof = proofIn(file)
  const key =
    publicKeyFile === undefined
      ? parsePublicKey(proof.public_key, file)
      : parsePublicKey(readFileSync(publicKeyFile, 'utf8'), publicKeyFile)
  const { body, seq, size, leaf, root } = proof
  const entry = entryOf(body)
  const report = (valid: boolean, detail: string): ProofReport => ({
    ...{ valid, detail, seq, size },
    entry,
  })
  const [checkpoint] = readCheckpoints(proof.checkpoint, key)
  if (!checkpoint) return report(false, 'the checkpoint is not signed by this key')
  if (checkpoint.size !== size || checkpoint.root !== root)
    return report(false, 'the checkpoint is about another tree')
  if (leafOf(createLinker(hashing), seq, body) !== leaf)
    return report(false, 'the entry is not the one that was hashed')
  if (!verifyInclusion(hashing, { leaf, index: seq, size, proof: proof.proof, root }))
    return report(false, 'the hashes do not lead from the entry to the root')
  const rests =
    publicKeyFile === undefined ? 'the key that came with the proof' : 'the key that was given'
  return report(true, `signed by ${rests}`)
}

const entryOf = (body: string): Record<string, unknown> => {
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return {}
  }
}
