import { GatehouseError } from '@gatehouse/contract'
import type { HookClient } from '@gatehouse/contract/routes/hooks'
import type { App } from '../../../app/app.ts'
import type { InvokeOutcome } from '../../../app/call/invoke.ts'
import type { Op } from '../../../app/call/op.ts'
import { type ClientForm, clientForms, mappingOf, type Verdict } from './clients.ts'
import { BadUse, type NativeCall, type Use } from './native-call.ts'

const readUse = (form: ClientForm, given: Readonly<Record<string, unknown>>) => {
  try {
    const use = form.use(given)
    return { use, call: mappingOf(form, use)(use) }
  } catch (cause) {
    if (cause instanceof BadUse)
      throw new GatehouseError('InvalidParams', { detail: cause.message })
    throw cause
  }
}

const verdictOf = (outcome: InvokeOutcome, waited: boolean): Verdict => {
  switch (outcome.kind) {
    case 'succeeded':
      return { kind: waited ? 'approved' : 'no_objection' }
    case 'pending': {
      const { approval_id } = outcome.pending
      return {
        kind: 'denied',
        reason: `It waits for a person: ${approval_id}. Once it is approved (\`gatehouse approvals approve ${approval_id}\`), the same again goes through.`,
      }
    }
    case 'failed':
    case 'unknown':
      return { kind: 'denied', reason: outcome.error.message }
    default:
      return { kind: 'denied', reason: outcome.message }
  }
}

/** Answers a client's hook in the client's own form. Raises `InvalidParams` for what is no use of a tool. */
export async function askHook(
  op: Op,
  app: Pick<App, 'useTool'>,
  client: HookClient,
  given: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const form = clientForms[client]
  const { use, call }: { readonly use: Use; readonly call: NativeCall } = readUse(form, given)
  const { tool, tool_use_id } = use
  const asked = { use: { client, tool, tool_use_id }, call }
  const { outcome, waited } = await app.useTool(op, asked)
  return form.output(verdictOf(outcome, waited), given)
}
