import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Installation, invoke, type Run } from './installation.ts'

export type Ready = {
  readonly run: Run
  readonly token: string
  readonly workspace: string
  /** Of the operator that the command line acts as. */
  readonly userToken: string
}

/** Starts the service, with one agent under a policy of its own. */
export const startWithAgent = async (
  gate: Installation,
  policy: string | null,
  flags: readonly string[] = [],
): Promise<Ready> => {
  const run = await gate.start(['--no-first-agent', ...flags])
  const { token, workspace } = await gate.createAgent('selftest')
  mkdirSync(workspace, { recursive: true })
  if (policy !== null) {
    const file = join(gate.dataDir, 'selftest.yaml')
    writeFileSync(file, policy)
    await gate.json(['policy', 'set', '--agent', 'selftest', file])
  }
  const userToken = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
  return { run, token, workspace, userToken }
}

/** Makes entries of the log, by calls that read. */
export const makeEntries = async (
  { run, token }: Pick<Ready, 'run' | 'token'>,
  count: number,
): Promise<void> => {
  const each = Math.ceil(count / 16)
  const work = async (worker: number): Promise<void> => {
    for (let i = 0; i < each; i += 1)
      await invoke(run, token, 'filesystem.stat', { path: `${worker}-${i}` })
  }
  await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)))
}
