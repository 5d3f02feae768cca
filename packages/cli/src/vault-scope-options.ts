/** Where a secret may be used; the same for adding one and for changing it. */
export const scopeOptions = {
  capability: {
    value: 'NAMES',
    many: true,
    about: 'capabilities that may use it, such as network.credentialed_request or git.*',
  },
  host: { value: 'HOSTS', many: true, about: 'hosts it may be sent to, such as *.example.org' },
  agent: { value: 'NAMES', many: true, about: 'agents that may use it; * for all of them' },
  description: { value: 'TEXT', about: 'what it is for, shown to agents' },
} as const

type Given = {
  readonly capability: readonly string[] | undefined
  readonly host: readonly string[] | undefined
  readonly agent: readonly string[] | undefined
  readonly description: string | undefined
}

/** `none` empties a list: nothing may use it then. */
const listed = (entries: readonly string[]): readonly string[] =>
  entries.length === 1 && entries[0] === 'none' ? [] : entries

export const scopeOf = ({ capability, host, agent, description }: Given) => ({
  ...(capability === undefined ? {} : { capabilities: [...listed(capability)] }),
  ...(host === undefined ? {} : { hosts: [...listed(host)] }),
  ...(agent === undefined ? {} : { agents: [...listed(agent)] }),
  ...(description === undefined ? {} : { description }),
})
