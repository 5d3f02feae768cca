import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@gatehouse/client'
import type { Integrity } from '@gatehouse/contract'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { openPrivateFile } from '../private-file.ts'
import { renderFields } from '../table.ts'
import { shownTime } from '../times.ts'

const kindLabel = ({ integrity }: Integrity): string =>
  integrity === 'verified' ? 'But' : 'What is wrong'

const headline = ({ integrity, kind }: Integrity): string => {
  if (integrity === 'verified') return 'The log is whole.'
  return kind === 'unanchored' ? 'NOTHING VOUCHES FOR THE LOG.' : 'THE LOG IS NOT WHOLE.'
}

const fields = (result: Integrity): [string, string | number][] => [
  ['Verified through', result.verified_through < 0 ? 'an empty log' : result.verified_through],
  ['Verified at', shownTime(result.verified_at)],
  ...(result.kind ? [[kindLabel(result), result.kind] as [string, string]] : []),
  ...(result.first_bad_id ? [['First bad entry', result.first_bad_id] as [string, string]] : []),
  ...(result.first_bad_seq === undefined
    ? []
    : [['First bad number', result.first_bad_seq] as [string, number]]),
  ...(result.detail ? [['Detail', result.detail] as [string, string]] : []),
]

/** What is kept elsewhere is compared with an export made now, hashed in this process. */
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
  summary: 'Hash the whole log again and say whether it is as it was written',
  options: {
    export: { value: 'FILE', about: 'verify this export, without a server or its data' },
    'public-key': { value: 'FILE', about: 'the key that the log was signed with' },
    checkpoint: { value: 'FILE', about: 'a checkpoint kept elsewhere: finds what was cut off' },
    'require-checkpoint': { about: 'fail where no checkpoint vouches for the end of the log' },
  },
  examples: [
    'gatehouse audit verify',
    'gatehouse audit verify --export audit.jsonl --public-key audit.pub --checkpoint last.txt',
  ],
  async run({ api }, given) {
    const { export: exportFile, checkpoint: checkpointFile } = given
    const publicKeyFile = given['public-key']
    const requireCheckpoint = given['require-checkpoint']
    if (publicKeyFile !== undefined && exportFile === undefined && checkpointFile === undefined)
      throw usageError('--public-key goes with --export FILE or --checkpoint FILE.')
    if (exportFile === undefined && checkpointFile === undefined && !requireCheckpoint)
      return api.verifyAudit()
    const { verifyOffline } = await import('@gatehouse/server/audit/offline')
    const verify = (file: string) =>
      verifyOffline({
        exportFile: file,
        ...(publicKeyFile === undefined ? {} : { publicKeyFile }),
        ...(checkpointFile === undefined ? {} : { checkpointFile }),
        requireCheckpoint,
      })
    return exportFile === undefined ? withExport(api, verify) : verify(exportFile)
  },
  text: (result) => [headline(result), renderFields(fields(result))].join('\n'),
  exitCode: ({ integrity }) => (integrity === 'verified' ? exitCodes.done : exitCodes.failed),
})
