import {
  GatehouseError,
  type KilledProcess,
  type KillProcess,
  type Process,
  type ProcessLog,
  type ProcessState,
} from '@gatehouse/contract'
import type { AgentProcesses, LogRequest } from '../../ports/processes.ts'
import type { EndsWithAgent } from '../agents/change-agent.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { actorText, type Op } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import type { ProcessDeps } from './live-processes.ts'
import { ProcessTable } from './process-table.ts'

type Deps = Pick<Basics, 'auditLog'> & { readonly processes: ProcessTable }

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
  await deps.auditLog.append(
    actDraft(op, 'process.killed', { agent, arguments: { process_id, command, args, ...how } }),
  )
  return deps.processes.kill(process_id, how, actorText(op.actor))
}

export interface ProcessUseCases {
  /** Programs that a call waits for first, then those in the background, the newest first. */
  listProcesses(
    op: Op,
    input: { agent?: string; state?: ProcessState; limit: number; offset: number },
  ): Promise<{ readonly processes: readonly Process[]; readonly total: number }>
  showProcess(op: Op, input: { process_id: string }): Promise<Process>
  /** Without an offset, its end. */
  readProcessLog(op: Op, input: LogRequest): Promise<ProcessLog>
  killProcess(op: Op, input: { process_id: string } & KillProcess): Promise<KilledProcess>
}

export type Processes = Part<ProcessUseCases> & {
  readonly endWithAgent: EndsWithAgent
  /** How many programs run now. */
  running(): number
  processesOf(
    call: Call,
    signal: AbortSignal,
    noted: (facts: Readonly<Record<string, unknown>>) => void,
  ): AgentProcesses
}

/** The programs of agents. */
export function bindProcesses(given: ProcessDeps): Processes {
  const processes = new ProcessTable(given)
  const deps = { ...given, processes }
  return {
    useCases: {
      listProcesses: (_op, input) => processes.list(input),
      showProcess: (_op, { process_id }) => showProcess(deps, process_id),
      readProcessLog: (_op, input) => processes.logs(input),
      killProcess: (op, input) => killProcess(op, deps, input),
    },
    endWithAgent: async (_op, _tx, agent) => () =>
      void processes.endAll(agent, 'its agent was revoked'),
    running: () => processes.running,
    processesOf: (call, signal, noted) => processes.of(call, signal, noted),
    start: () => processes.start(),
    stopped: () => processes.stopped(),
  }
}
