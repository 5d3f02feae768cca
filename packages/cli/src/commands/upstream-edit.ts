import type { EditUpstream } from '@gatehouse/contract'
import { ownSecretsOf } from '../agent-secrets.ts'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'

type Options = {
  readonly 'agent-secret'?: readonly string[] | undefined
  readonly 'no-agent-secret'?: readonly string[] | undefined
  readonly 'own-only': boolean
  readonly 'no-own-only': boolean
}

function changesOf(given: Options): Omit<EditUpstream, 'dry_run'> {
  const gets = ownSecretsOf(given['agent-secret'] ?? [])
  const loses = given['no-agent-secret'] ?? []
  const both = loses.find((agent) => agent in gets)
  if (both !== undefined)
    throw usageError(`--agent-secret and --no-agent-secret both name ${both}.`)
  if (given['own-only'] && given['no-own-only'])
    throw usageError('Give --own-only or --no-own-only, not both.')
  const agents = { ...gets, ...Object.fromEntries(loses.map((agent) => [agent, null])) }
  return {
    ...(Object.keys(agents).length > 0 ? { agent_credentials: agents } : {}),
    ...(given['own-only'] ? { own_only: true } : {}),
    ...(given['no-own-only'] ? { own_only: false } : {}),
  }
}

export const upstreamEdit = defineCommand({
  name: 'upstream edit',
  summary: 'Change the credentials of single agents; connections with old ones are closed',
  args: { name: 'the server' },
  options: {
    'agent-secret': {
      value: 'AGENT=SECRET',
      many: true,
      about:
        'all that is one agent’s own from now on: a secret in the vault for the header authorization; AGENT:NAME=SECRET for another header or a variable',
    },
    'no-agent-secret': {
      value: 'AGENTS',
      many: true,
      about: 'agents whose own secret is removed',
    },
    'own-only': { about: 'refuse agents without a secret or a login of their own' },
    'no-own-only': { about: 'let them use the shared credentials' },
    'if-version': { value: 'N', integer: true, about: 'only if it still has this version' },
    'dry-run': { about: 'check the change without making it' },
  },
  examples: [
    'gatehouse upstream edit tickets --agent-secret coder=tickets_coder_new',
    'gatehouse upstream edit tickets --no-agent-secret coder --own-only',
  ],
  async run({ api }, { name, 'if-version': version, 'dry-run': dry_run, ...given }) {
    const changes = changesOf(given)
    if (Object.keys(changes).length === 0)
      throw usageError(
        'Say what changes: --agent-secret, --no-agent-secret, --own-only or --no-own-only.',
      )
    const match = version === undefined ? {} : { if_match: version }
    return { dry_run, ...(await api.editUpstream({ name, ...changes, dry_run, ...match })) }
  },
  text({ dry_run, upstream }) {
    const { name, agent_credentials, own_only } = upstream
    const owners = Object.keys(agent_credentials)
    const others = own_only ? 'all others are refused' : 'all others use what agents share'
    const whose =
      owners.length === 0 ? 'No agent has a secret of its own' : `Secrets of ${owners.join(', ')}`
    const what = dry_run ? `${name} would be changed` : `${name} is changed`
    return `${what}. ${whose}; ${others}.`
  },
})
