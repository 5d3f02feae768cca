import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { readSecretLines } from '../read-secret.ts'

type Schema = { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> }

/** A value as its setting wants it: numbers, booleans and lists are written as JSON. */
const valueOf = (text: string, type: unknown): unknown => {
  if (type === 'string' || type === undefined) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const nameForm = /^[a-z][a-z0-9_]*=/

/** The option is split at commas; what follows one and names no setting belongs to the value before. */
const joined = (parts: readonly string[]): string[] => {
  const lines: string[] = []
  for (const part of parts) {
    const before = lines.at(-1)
    if (nameForm.test(part) || before === undefined) lines.push(part)
    else lines[lines.length - 1] = `${before},${part}`
  }
  return lines
}

const settingsOf = (lines: readonly string[], { properties = {} }: Schema) =>
  Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=')
      const name = line.slice(0, Math.max(0, at))
      if (name === '') throw usageError(`--set ${line} must be NAME=VALUE.`)
      return [name, valueOf(line.slice(at + 1), properties[name]?.type)]
    }),
  )

export const proxyConnect = defineCommand({
  name: 'proxy connect',
  summary: 'Test and connect a service; credentials are read from the input',
  args: { kind: 'the kind of service, as `proxy kinds` lists it' },
  options: {
    name: { value: 'NAME', about: 'the name of the service (its kind)' },
    set: { value: 'NAME=VALUE', many: true, about: 'a setting, as `proxy kinds` lists them' },
    agent: { value: 'NAMES', many: true, about: 'agents that may use it; * for all of them' },
    credential: {
      value: 'NAMES',
      many: true,
      about: 'optional credentials to read too, each from a line of the input',
    },
    'keep-credentials': { about: 'keep the present credentials; change only settings or agents' },
  },
  examples: [
    'gatehouse proxy connect mail --agent mailbot --set address=ana@example.org --set imap_host=imap.example.org --set smtp_host=smtp.example.org < password.txt',
    'gatehouse proxy connect mail --name work --agent * --set address=ana@example.org --set imap_host=imap.example.org --set smtp_host=smtp.example.org --credential smtp_password < passwords.txt',
  ],
  async run({ api, io }, input) {
    const { kind, name, set = [], agent, credential = [] } = input
    if (agent === undefined)
      throw usageError('Say who may use it: --agent NAME, or --agent "*" for every agent.')
    const { kinds } = await api.listServiceKinds()
    const found = kinds.find((one) => one.kind === kind)
    const secrets = found?.secrets ?? []
    const asked = input['keep-credentials']
      ? []
      : secrets
          .filter(({ required, name: field }) => required || credential.includes(field))
          .map((secret) => secret.name)
    const values = asked.length === 0 ? [] : await readSecretLines(io, asked)
    return api.connectService({
      kind,
      name,
      settings: settingsOf(joined(set), (found?.settings ?? {}) as Schema),
      secrets: Object.fromEntries(asked.map((field, i) => [field, values[i] ?? ''])),
      agents: [...agent],
    })
  },
  text: ({ service, checks }, { next }) =>
    [
      ...checks.map(({ name, detail }) => `ok  ${name}: ${detail}`),
      `${service.name} is connected and is being read. Follow it: ${next('proxy status')}`,
    ].join('\n'),
})
