import type { PolicyLimit } from '@gatehouse/contract'
import { usageError } from './cli-error.ts'

/** Options of an agent that a person may set and change. */
export const agentOptions = {
  purpose: { value: 'TEXT', about: 'what it is for, shown beside its requests' },
  approvals: {
    value: 'MODE',
    choices: ['pending', 'hold'],
    about: 'answer a call that needs approval at once, or keep it open until decided',
  },
  mount: { value: 'PATHS', about: 'folders it may read, separated by commas; PATH:rw to write' },
  limits: {
    value: 'LIMITS',
    about:
      'limits in addition to those of policy, such as "email.send=5/1m,filesystem.*=100/1h"; none for none',
  },
  tools: { value: 'PATTERNS', about: 'tools that it may use, separated by commas; * for all' },
} as const

const listed = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

/** `email.send=5/1m` */
function limitOf(text: string): PolicyLimit {
  const [, match, limit, window] = /^(\S+)=(\d+)\/(\w+)$/.exec(text) ?? []
  if (match === undefined || window === undefined)
    throw usageError(`"${text}" is no limit; one is email.send=5/1m.`)
  return { match, limit: Number(limit), window }
}

export const limitText = ({ match, limit, window }: PolicyLimit): string =>
  `${match}=${limit}/${window}`

type Given = {
  readonly purpose: string | undefined
  readonly approvals: 'pending' | 'hold' | undefined
  readonly mount: string | undefined
  readonly tools: string | undefined
  readonly limits: string | undefined
}

/** The fields that were given; an empty list is one, too. */
export const agentFields = ({ purpose, approvals, mount, tools, limits }: Given) => ({
  ...(purpose === undefined ? {} : { purpose }),
  ...(approvals === undefined ? {} : { approvals }),
  ...(mount === undefined
    ? {}
    : {
        mounts: listed(mount).map((path) => ({
          path: path.replace(/:r[ow]$/, ''),
          read_only: !path.endsWith(':rw'),
        })),
      }),
  ...(tools === undefined ? {} : { tools: listed(tools) }),
  ...(limits === undefined
    ? {}
    : { limits: limits.trim() === 'none' ? [] : listed(limits).map(limitOf) }),
})

/** Notes beside the answer, a line each. */
export const warningLines = ({ warnings }: { readonly warnings: readonly string[] }) =>
  warnings.map((warning) => `Warning: ${warning}`)
