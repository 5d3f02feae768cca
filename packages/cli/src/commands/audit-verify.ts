import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Integrity } from '@gatehouse/contract'
import type { Client } from '@gatehouse/rest-client'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { acknowledgeLine, integrityText } from '../integrity-text.ts'
import type { NextStep } from '../next-step.ts'
import { openPrivateFile } from '../private-file.ts'

/** Only what the service itself found can be acknowledged there: copies and exports are compared elsewhere. */
const ofService = (found: Integrity, next: NextStep) =>
  found.integrity === 'failed' ? { ...found, next_step: acknowledgeLine(found, next) } : found

/** A copy kept elsewhere is compared with an export made now, hashed in this process. */
async function withExport<T>(api: Client, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-verify-'))
  try {
    const path = join(folder, 'audit.jsonl')
    const file = await openPrivateFile(path)
    for await (const line of api.exportAudit()) await file.write(`${line}\n`)
    await file.finish()
    return await work(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const auditVerify = defineCommand({
  name: 'audit verify',
  summary: 'Verify the audit log by hashing every entry again',
  options: {
    export: { value: 'FILE', about: 'verify this export, or a folder of parts, without a server' },
    'public-key': { value: 'FILE', about: 'the key that the log was signed with' },
    checkpoint: { value: 'FILE', about: 'a checkpoint kept elsewhere; detects removed entries' },
    'require-checkpoint': { about: 'fail if no checkpoint covers the end of the log' },
  },
  examples: [
    'gatehouse audit verify',
    'gatehouse audit verify --export audit.jsonl --public-key audit.pub --checkpoint last.txt',
  ],
  async run({ api, next }, given) {
    const { export: exportFile, checkpoint: checkpointFile } = given
    const publicKeyFile = given['public-key']
    const requireCheckpoint = given['require-checkpoint']
    if (publicKeyFile !== undefined && exportFile === undefined && checkpointFile === undefined)
      throw usageError('--public-key goes with --export FILE or --checkpoint FILE.')
    if (exportFile === undefined && checkpointFile === undefined && !requireCheckpoint)
      return ofService(await api.verifyAudit(), next)
    const { verifyOffline } = await import('@gatehouse/server/log/offline')
    const verify = (file: string) =>
      verifyOffline({
        exportFile: file,
        ...(publicKeyFile === undefined ? {} : { publicKeyFile }),
        ...(checkpointFile === undefined ? {} : { checkpointFile }),
        requireCheckpoint,
      })
    return exportFile === undefined ? withExport(api, verify) : verify(exportFile)
  },
  text: (result, view) =>
    [
      integrityText(result, view),
      ...('next_step' in result ? [`Next step: ${result.next_step}`] : []),
    ].join('\n'),
  exitCode: ({ integrity }) => (integrity === 'verified' ? exitCodes.done : exitCodes.failed),
})
