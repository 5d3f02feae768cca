import type { AddUpstream } from '@gatehouse/contract'
import { usageError } from './cli-error.ts'

export const pairOf = (
  option: string,
  text: string,
  form = 'NAME=VALUE',
): readonly [string, string] => {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`--${option} ${text} must be ${form}.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** `AGENT=SECRET` is of the header that names who calls; another one, or a variable, stands behind a colon. */
export const ownSecretsOf = (
  texts: readonly string[],
): NonNullable<AddUpstream['agent_credentials']> => {
  const own: Record<string, Record<string, { secret: string }>> = {}
  for (const text of texts) {
    const [whose, secret] = pairOf('agent-secret', text, 'AGENT=SECRET or AGENT:NAME=SECRET')
    const [agent = '', key = 'authorization', ...more] = whose.split(':')
    const known = (own[agent] ??= {})
    if (more.length > 0 || agent === '' || key === '')
      throw usageError(`--agent-secret ${text} must be AGENT=SECRET or AGENT:NAME=SECRET.`)
    if (key in known) throw usageError(`--agent-secret names ${key} of ${agent} twice.`)
    known[key] = { secret }
  }
  return own
}
