import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients } from '../clients/client.ts'
import { inspectClient } from '../clients/inspect-client.ts'
import type { HooksFound } from '../clients/inspect-hooks.ts'
import { type Check, fine, warn } from './run-checks.ts'

/** How the client's own tools get past the gate. */
function hookGaps(hooks: HooksFound | null): readonly string[] {
  if (hooks === null) return []
  if (hooks.state === 'missing') return ['its own tools bypass Gatehouse']
  return hooks.state === 'changed' ? ['its hooks were changed', ...hooks.gaps] : hooks.gaps
}

/** One for each client that is on this machine: whether it is connected, and what of it bypasses the gate. */
const checkOf = (client: ClientSpec): Check => ({
  name: client.title,
  async run({ place }) {
    const found = await inspectClient(client, place).catch((error: unknown) => {
      // The file of another program is no fault of ours.
      if (error instanceof CliError) return error
      throw error
    })
    if (found instanceof CliError) return warn(found.message, 'correct its configuration')
    if (!found) return null
    const { connected, missing, others, hooks } = found
    const command = `gatehouse connect ${client.id}`
    const named = others.join(', ')
    const also = named === '' ? '' : `; its servers: ${named}`
    const todo =
      named === ''
        ? `to connect it, run ${command}`
        : `to connect it and put them behind the gate, run gatehouse import ${client.id}`
    if (!connected) return fine(`not connected${also}; ${todo}`)
    const [token] = missing
    if (token !== undefined) return warn(`connected, but there is no ${token}`, command)
    const bypassing = [
      ...hookGaps(hooks),
      ...(named === '' ? [] : [`these of its servers bypass Gatehouse: ${named}`]),
    ]
    const decided = hooks ? '; its own tools are decided by the gate' : ''
    if (bypassing.length === 0) return fine(`connected${decided}`)
    const isOfHooks = hooks !== null && (hooks.state !== 'in place' || hooks.gaps.length > 0)
    const fix = isOfHooks || named === '' ? command : `gatehouse import ${client.id}`
    return warn(`connected; ${bypassing.join('; ')}`, fix)
  },
})

export const clientChecks: readonly Check[] = clients.map(checkOf)
