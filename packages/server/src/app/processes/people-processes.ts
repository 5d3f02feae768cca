import {
  GatehouseError,
  type KilledProcess,
  type KillProcess,
  type Process,
  type ProcessLog,
} from '@gatehouse/contract'
import type { ProcessHost } from '../../ports/processes.ts'
import type { App } from '../app.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { actorText, type Op } from '../call/op.ts'
import type { ProcessTable } from './process-table.ts'

/** Where nothing can be run, as in tests of other things. */
export const noProcesses: ProcessHost = {
  resolve: () => Promise.reject(lacking()),
  start: () => Promise.reject(lacking()),
  readKept: async () => ({ bytes: new Uint8Array(), offset: 0, total_bytes: 0 }),
  forget: async () => {},
  async [Symbol.asyncDispose]() {},
}

const lacking = (): GatehouseError =>
  new GatehouseError('SandboxUnavailable', {
    reason: 'this service was made without a sandbox',
    remedy: 'start it with gatehouse serve',
  })

type Deps = Pick<Basics, 'journal'> & { readonly processes: ProcessTable }

async function showProcess({ processes }: Deps, process_id: string): Promise<Process> {
  const process = await processes.find(process_id)
  if (!process) throw new GatehouseError('ProcessNotFound', { process_id })
  return process
}

async function killProcess(
  op: Op,
  deps: Deps,
  { process_id, ...how }: KillProcess & { readonly process_id: string },
): Promise<KilledProcess> {
  const { agent, state, command, args } = await showProcess(deps, process_id)
  if (state !== 'running') throw new GatehouseError('ProcessNotRunning', { process_id, state })
  await deps.journal.append(
    actDraft(op, 'process.killed', { agent, arguments: { process_id, command, args, ...how } }),
  )
  return deps.processes.kill(process_id, how, actorText(op.actor))
}

/** What people can see and do about the programs of agents. */
export const bindProcesses = (
  deps: Deps,
): Pick<App, 'listProcesses' | 'showProcess' | 'readProcessLog' | 'killProcess'> => ({
  listProcesses: (_op, input) => deps.processes.list(input),
  showProcess: (_op, { process_id }) => showProcess(deps, process_id),
  readProcessLog: (_op, input): Promise<ProcessLog> => deps.processes.logs(input),
  killProcess: (op, input) => killProcess(op, deps, input),
})
