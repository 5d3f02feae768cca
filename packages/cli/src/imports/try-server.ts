import type { AddUpstream, UpstreamReview } from '@gatehouse/contract'
import { ClientError } from '@gatehouse/rest-client'
import { counted } from '../counted.ts'
import type { Context } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { toFailure } from '../failure.ts'
import { askFolders, askHosts, type Surroundings } from '../grants/ask-grants.ts'
import { foldersOf, hostsOf } from '../grants/server-grants.ts'
import {
  grantLines,
  isWaiting,
  refusedHostsText,
  remarksText,
  toolTable,
} from '../upstream-text.ts'
import { type Candidate, namesFor } from './candidates.ts'

type Extra = { readonly grant: readonly string[]; readonly host: readonly string[] }

const folderGrant = (text: string) => ({
  path: text.replace(/:r[ow]$/, ''),
  read_only: !text.endsWith(':rw'),
})

/** Values of a server in the form of the gate: secrets apart from the rest. */
async function orderOf(
  context: Context,
  candidate: Candidate,
  around: Surroundings & Extra,
): Promise<Omit<AddUpstream, 'name'>> {
  const { definition, secrets, from } = candidate
  const { server, values } = definition
  const name = from[0]?.name ?? ''
  const given = around.grant.map(folderGrant)
  const named = foldersOf(definition).filter((path) => !given.some((one) => one.path === path))
  const open = hostsOf(definition).filter((host) => !around.host.includes(host))
  const all = Object.entries(values)
  return {
    server,
    grants: {
      folders: [...given, ...(await askFolders(context, name, named, around))],
      hosts: [...around.host, ...(await askHosts(context, name, open))],
      environment: Object.fromEntries(all.filter(([key]) => !secrets.includes(key))),
    },
    credentials: Object.fromEntries(
      all.filter(([key]) => secrets.includes(key)).map(([key, value]) => [key, { value }]),
    ),
    per_agent: true,
    dry_run: false,
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof ClientError && error.problem.code === 'Conflict'

export type Tried = {
  readonly candidate: Candidate
  readonly order: AddUpstream
  readonly review: UpstreamReview
}

/** Tries the names until one is free. Raises what the server says of the last. */
async function review(
  api: Context['api'],
  order: Omit<AddUpstream, 'name'>,
  names: readonly string[],
): Promise<Pick<Tried, 'order' | 'review'>> {
  const [name = '', ...others] = names
  try {
    const found = await api.addUpstream({ ...order, name, dry_run: true })
    return { order: { ...order, name }, review: found }
  } catch (error) {
    if (others.length === 0 || !isTaken(error)) throw error
    return review(api, order, others)
  }
}

const foundText = ({ order, review: { tools, ...rest } }: Tried, { views }: Context): string =>
  [
    '',
    `${order.name} has ${counted(tools.filter(isWaiting).length, 'tool')} to offer:`,
    toolTable(tools, views.stderr),
    ...remarksText(tools),
    ...refusedHostsText({ tools, ...rest }),
    '',
    ...grantLines(rest.upstream).map(escapeText),
  ].join('\n')

/** Starts a server within what it is granted, and shows what it has; nothing is kept. */
export async function tryServer(
  context: Context,
  candidate: Candidate,
  around: Surroundings & Extra,
  taken: ReadonlySet<string>,
): Promise<Tried | { readonly problem: string }> {
  const order = await orderOf(context, candidate, around)
  const names = namesFor(candidate)
  try {
    const free = names.filter((name) => !taken.has(name))
    const tried = { candidate, ...(await review(context.api, order, free)) }
    if (tried.order.name !== names[0])
      await context.note(`The name ${names[0]} is taken: it becomes ${tried.order.name}.`)
    if (!context.json) await context.note(foundText(tried, context))
    return tried
  } catch (error) {
    return { problem: toFailure(error).message }
  }
}
