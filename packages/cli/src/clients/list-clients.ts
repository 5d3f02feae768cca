import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients, type Place } from './client.ts'
import { type Inspected, inspectClient } from './inspect-client.ts'

export type ListedClient = {
  readonly client: string
  readonly connected: boolean
  /** Judge of its own tools, or why that cannot be said. */
  readonly hooks: string
}

function hooksText({ hooks }: Inspected): string {
  if (hooks === null) return 'bypass the gate; it has no hooks'
  if (hooks.state === 'missing') return 'bypass the gate'
  const [gap] = hooks.gaps
  if (gap !== undefined) return gap.what
  return hooks.state === 'changed' ? 'its hooks were changed' : 'decided by the gate'
}

async function list(client: ClientSpec, place: Place): Promise<ListedClient | null> {
  try {
    const found = await inspectClient(client, place)
    return found && { client: client.id, connected: found.connected, hooks: hooksText(found) }
  } catch (error) {
    // The file of another program is no fault of ours.
    if (error instanceof CliError)
      return { client: client.id, connected: false, hooks: error.message }
    throw error
  }
}

/** Clients that are on this machine, in the order in which they are known. */
export async function listClients(place: Place): Promise<readonly ListedClient[]> {
  const found: ListedClient[] = []
  for (const client of clients) {
    const one = await list(client, place)
    if (one) found.push(one)
  }
  return found
}
