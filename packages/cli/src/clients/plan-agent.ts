import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import type { Client } from '@gatehouse/rest-client'
import { withTokenFile } from '../private-file.ts'
import { type ConnectionFiles, sha256 } from './connection.ts'

/** Step for the agent of a client: `keep` where its token is in place already. */
export type AgentStep = 'create' | 'keep' | 'rotate' | 'restore'

export async function planAgent(
  api: Pick<Client, 'listAgents'>,
  name: string,
  tokenFile: string,
): Promise<AgentStep> {
  const agent = (await api.listAgents()).agents.find((one) => one.name === name)
  if (!agent) return 'create'
  if (agent.status === 'revoked') return 'restore'
  const token = await readFile(tokenFile, 'utf8').catch(() => null)
  const isPresent = token !== null && sha256(token.trim()).startsWith(agent.token_fingerprint)
  return isPresent ? 'keep' : 'rotate'
}

export type AgentWanted = {
  readonly name: string
  readonly purpose: string
  readonly mount: readonly string[]
}

const mountOf = (path: string) => ({
  path: path.replace(/:r[ow]$/, ''),
  read_only: !path.endsWith(':rw'),
})

const makeToken = (api: Client, step: AgentStep, { name, purpose, mount }: AgentWanted) => {
  if (step === 'rotate') return api.rotateAgent({ name })
  if (step === 'restore') return api.restoreAgent({ name })
  return api.createAgent({ name, purpose, approvals: 'hold', mounts: mount.map(mountOf) })
}

/** Takes the step, and puts the token into its file; the file is there first, and replaced at the end. */
export async function provideToken(
  api: Client,
  step: AgentStep,
  wanted: AgentWanted,
  { dir, token }: ConnectionFiles,
): Promise<void> {
  if (step === 'keep') return
  const beside = `${token}.new`
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await rm(beside, { force: true })
  await withTokenFile(beside, () => makeToken(api, step, wanted))
  await rename(beside, token)
}
