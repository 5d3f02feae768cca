import { usageError } from '../cli-error.ts'
import { agentLine } from '../clients/connect-client.ts'
import type { Context } from '../define.ts'
import { canAsk } from '../grants/ask-grants.ts'
import type { Candidate } from './candidates.ts'
import { foundText, leftText, listedOf } from './list-found.ts'
import {
  type Choice,
  type Connecting,
  chooseServers,
  type ImportRequest,
  type Left,
  leftWith,
  planConnections,
} from './plan-import.ts'
import { type Tried, tryServer } from './try-server.ts'

/** Servers that were tried within what they may use. */
export type Ready = {
  readonly tried: readonly Tried[]
  /** Servers that an earlier import has put behind the gate. */
  readonly known: readonly Candidate[]
  readonly failed: readonly Left[]
  readonly connecting: readonly Connecting[]
}

/** Whether somebody has said, or can be asked, what is to be granted. Nothing is started otherwise. */
const isAnswered = (context: Context): boolean => context.yes || canAsk(context)

/** Asks what each server may use, and starts it within that. */
async function prepare(context: Context, given: ImportRequest, choice: Choice): Promise<Ready> {
  const { home, dataDir } = choice
  const around = { home, dataDirs: [dataDir], grant: given.grant ?? [], host: given.host ?? [] }
  const tried: Tried[] = []
  const failed: Left[] = []
  const known = choice.candidates.filter((candidate) => candidate.known !== null)
  const taken = new Set(known.map((candidate) => candidate.known ?? ''))
  for (const candidate of choice.candidates.filter((one) => one.known === null)) {
    const result = await tryServer(context, candidate, around, taken)
    if ('problem' in result) failed.push(...leftWith(candidate, result.problem))
    else tried.push(result)
    if ('order' in result) taken.add(result.order.name)
  }
  const behind = [...tried.map(({ candidate }) => candidate), ...known]
  return { tried, known, failed, connecting: await planConnections(context, behind) }
}

/** Servers that were found and chosen; `ready` is null where nothing was to be started. */
export async function prepareImport(context: Context, given: ImportRequest) {
  if ((given.grant ?? given.host) !== undefined && given.server?.length !== 1)
    throw usageError('--grant and --host are for one server: name it with --server.')
  const choice = await chooseServers(context, given)
  const listed = listedOf(choice)
  if (given['dry-run']) return { choice, listed, ready: null }
  const tell = async (text: string) => {
    if (!context.json) await context.note(text)
  }
  await tell(foundText({ found: listed, unread: choice.found.unread }, context.views.stderr))
  if (!isAnswered(context)) return { choice, listed, ready: null }
  const ready = await prepare(context, given, choice)
  for (const line of leftText(ready.failed)) await tell(line)
  for (const { config, plan } of ready.connecting)
    await tell(
      `${config.client.title} is not connected, and will be. ${agentLine[plan.step](plan.agent)}`,
    )
  return { choice, listed, ready }
}

export type Prepared = Awaited<ReturnType<typeof prepareImport>>
