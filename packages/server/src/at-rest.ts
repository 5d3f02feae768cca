import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { checkpointAlarm, checkpointsFile, readCheckpointFile } from './log/checkpoints.ts'
import { readIfThere } from './log/files.ts'
import {
  assertKeys,
  parsePublicKey,
  publicKeyFile,
  sealerBeside,
  type Verifier,
} from './log/keys.ts'
import { nodeName } from './platform/data-directory.ts'
import { createPolicyShare } from './platform/policy-share-files.ts'
import { recordedEngine } from './platform/store-record.ts'
import { assertFileSum } from './storage/sqlite/file-sum.ts'
import { authorityFiles, leafFiles, readPair } from './tls/files.ts'
import { authorityFault, isDamage, isUsual, leafFault, signingFault } from './tls/judge.ts'

/** Damage that a start finds or refuses, and what to do about it. */
export type Damage = { readonly detail: string; readonly fix: string }

const noNames = { dns: [], ip: [] }
const asBefore = 'restore it from a backup'

const checkpoints = (dataDir: string): Damage[] => {
  const directory = join(dataDir, 'audit')
  const file = join(directory, publicKeyFile)
  const text = readIfThere(file)?.toString('utf8')
  if (text === undefined) return []
  let verifier: Verifier
  try {
    verifier = parsePublicKey(text, file)
  } catch {
    // A public key that is none has been named already.
    return []
  }
  const notes = readCheckpointFile(directory, verifier, sealerBeside(directory, verifier))
  const alarm = checkpointAlarm(notes, join(directory, checkpointsFile))
  const fix =
    'the next start moves what is damaged to set-aside.jsonl and reports it; then gatehouse audit acknowledge --reason TEXT'
  return alarm ? [{ detail: alarm.detail, fix }] : []
}

/** A service with a certificate of its own reads none of these files, and has none. */
const certificates = (dataDir: string): Damage[] => {
  const [authorityAt, leafAt] = [
    authorityFiles(join(dataDir, 'tls')),
    leafFiles(join(dataDir, 'tls')),
  ]
  const [authority, leaf] = [readPair(authorityAt), readPair(leafAt)]
  const fault = authorityFault(authority, noNames, Date.now())
  if (fault !== null) {
    const fix = `${asBefore}, or remove ${authorityAt.cert} and ${authorityAt.key} for a new authority, which each client has to trust anew`
    return isDamage(fault) ? [{ detail: `${authorityAt.cert} ${fault}`, fix }] : []
  }
  const unable = signingFault(authority)
  const why = leafFault(leaf, authority.cert ?? '', noNames, Date.now())
  return [
    ...(unable === null || isUsual(unable)
      ? []
      : [{ detail: `${authorityAt.key} ${unable}`, fix: asBefore }]),
    ...(why === null || isUsual(why)
      ? []
      : [
          {
            detail: `the certificate in ${leafAt.cert} and ${leafAt.key} ${why}`,
            fix: 'the next start makes another by the same authority',
          },
        ]),
  ]
}

/** The start's own checks; each raises an error that names the file. */
const asserted =
  (look: (dataDir: string) => unknown) =>
  (dataDir: string): Damage[] => {
    look(dataDir)
    return []
  }

const looks: readonly ((dataDir: string) => Damage[])[] = [
  asserted(recordedEngine),
  asserted((dataDir) => existsSync(join(dataDir, 'node-id')) && nodeName(dataDir)),
  asserted((dataDir) => createPolicyShare(dataDir).base()),
  asserted((dataDir) => assertFileSum(join(dataDir, 'gatehouse.db'))),
  asserted((dataDir) => assertKeys(join(dataDir, 'audit'))),
  checkpoints,
  certificates,
]

const damageOf = (error: unknown): Damage => {
  if (!(error instanceof GatehouseError)) throw error
  const [first] = error.recovery
  const fix = first ? `${first.action}: ${first.description}` : asBefore
  return { detail: error.message, fix }
}

/** Looks at the files that each start checks. Changes nothing, and needs no service. */
export const lookAtRest = (dataDir: string): readonly Damage[] =>
  looks.flatMap((look) => {
    try {
      return look(dataDir)
    } catch (error) {
      return [damageOf(error)]
    }
  })
