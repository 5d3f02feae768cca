import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Approval } from '@gatehouse/contract'
import { type Client, createClient } from '@gatehouse/rest-client'
import { until } from '@gatehouse/testkit/until'
import { type Installation } from './server.ts'

/** The person at the machine, by the API: what the command line does, without a process for each act. */
export type Person = {
  readonly api: Client
  /** Waits for the agent's next request and lets it run. */
  approveNext(agent: string): Promise<Approval>
  /** Waits for the agent's next request and refuses it. */
  rejectNext(agent: string, reason: string): Promise<Approval>
}

export const personAt = (gate: Installation): Person => {
  const token = readFileSync(join(gate.dataDir, 'cli-token'), 'utf8').trim()
  const api = createClient({ baseUrl: gate.run?.user_api_url ?? '', token })
  const nextOf = async (agent: string): Promise<string> => {
    let id = ''
    await until(async () => {
      id = (await api.listApprovals({ agent })).approvals[0]?.id ?? ''
      return id !== ''
    })
    return id
  }
  return {
    api,
    approveNext: async (agent) => api.approveApproval({ id: await nextOf(agent) }),
    rejectNext: async (agent, reason) => api.rejectApproval({ id: await nextOf(agent), reason }),
  }
}
