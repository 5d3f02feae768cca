import { join } from 'node:path'
import { shellWord } from '@gatehouse/contract/shell-word'
import type { Context } from './define.ts'

type File = {
  readonly text: string
  /** The organisation's, unless said. */
  readonly agent: string | undefined
  readonly version?: string | undefined
}

/** Saves a policy file, and tells the command that brings the text before it back. */
export async function savePolicyFile(
  { api, dataDir, next }: Pick<Context, 'api' | 'dataDir' | 'next'>,
  { text, agent, version }: File,
) {
  const match = version === undefined ? {} : { if_match: version }
  const { previous, ...saved } =
    agent === undefined
      ? await api.saveOrganisationPolicy({ text, ...match })
      : await api.saveAgentPolicy({ name: agent, text, ...match })
  const words = [
    'policy set',
    shellWord(join(await dataDir(), 'policies', previous ?? '')),
    ...(agent === undefined ? [] : ['--agent', agent]),
  ]
  const undo = previous === null ? null : next(words.join(' '))
  return { saved: true, valid: true, ...saved, undo }
}
