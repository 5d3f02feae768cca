import { didYouMean } from '@gatehouse/contract/nearest'
import { type Client, ClientError } from '@gatehouse/rest-client'

/** For an agent that does not exist: which one may have been meant. */
export async function suggestAgent(api: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof ClientError) || error.problem.code !== 'AgentNotFound') return error
  const name = /^There is no agent (.*)\.$/.exec(error.problem.detail)?.[1]
  if (name === undefined) return error
  try {
    const { agents } = await api.listAgents()
    const guess = didYouMean(
      name,
      agents.map((agent) => agent.name),
    )
    const recovery = [
      { action: 'gatehouse agent list', description: 'See every agent.' },
      ...error.problem.recovery,
    ]
    return new ClientError(error.status, {
      ...error.problem,
      detail: `${error.problem.detail}${guess}`,
      recovery,
    })
  } catch {
    return error
  }
}
