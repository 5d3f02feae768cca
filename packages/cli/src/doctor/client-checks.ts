import { CliError } from '../cli-error.ts'
import { type ClientSpec, clients } from '../clients/client.ts'
import { type Inspected, inspectClient } from '../clients/inspect-client.ts'
import type { Gap, HooksFound } from '../clients/inspect-hooks.ts'
import { type Check, type Finding, fine, warn } from './run-checks.ts'

/** How the client's own tools get past the gate. */
function hookGaps(hooks: HooksFound | null): readonly Gap[] {
  if (hooks === null) return []
  if (hooks.state === 'missing') return [{ what: 'its own tools bypass Gatehouse', fix: null }]
  const changed = { what: 'its hooks were changed', fix: null }
  return hooks.state === 'changed' ? [changed, ...hooks.gaps] : hooks.gaps
}

const fixText = (fix: Gap['fix']): string | null =>
  fix === null || typeof fix === 'string'
    ? fix
    : fix.map((command) => `gatehouse ${command}`).join(', then ')

/** Finding about a client that is on this machine. */
function findingOf(id: string, { connected, missing, others, hooks }: Inspected): Finding {
  const [connect, importing] = [`gatehouse connect ${id}`, `gatehouse import ${id}`]
  const named = others.join(', ')
  if (!connected) {
    const bypass = hooks === null ? '' : '; its own tools bypass Gatehouse'
    return named === ''
      ? warn(`not connected${bypass}`, connect)
      : warn(
          `not connected${bypass}; these of its servers bypass Gatehouse: ${named}`,
          `${connect}, then ${importing}`,
        )
  }
  const [token] = missing
  if (token !== undefined) return warn(`connected, but there is no ${token}`, connect)
  const gaps = [
    ...hookGaps(hooks).map(({ what, fix }) => ({ what, fix: fixText(fix) ?? connect })),
    ...(named === ''
      ? []
      : [{ what: `these of its servers bypass Gatehouse: ${named}`, fix: importing }]),
  ]
  const [first] = gaps
  const decided = hooks ? '; its own tools are decided by the gate' : ''
  if (!first) return fine(`connected${decided}`)
  return warn(`connected; ${gaps.map(({ what }) => what).join('; ')}`, first.fix)
}

/** One for each client that is on this machine: whether it is connected, and what of it bypasses the gate. */
const checkOf = (client: ClientSpec): Check => ({
  name: client.title,
  async run({ place }) {
    try {
      const found = await inspectClient(client, place)
      return found && findingOf(client.id, found)
    } catch (error) {
      // The file of another program is no fault of ours.
      if (error instanceof CliError) return warn(error.message, 'correct its configuration')
      throw error
    }
  },
})

export const clientChecks: readonly Check[] = clients.map(checkOf)
