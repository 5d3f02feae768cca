import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { UpstreamServer } from '@gatehouse/contract'
import { hasSecret, secretArguments } from '@gatehouse/contract/likely-secret'
import { type ClientSpec, homeOf, type Place } from '../clients/client.ts'
import { isMembers, type Members } from '../clients/config-format.ts'
import { sha256 } from '../clients/connection.ts'

/** A server as its client would start it, or connect to it. */
export type Definition = {
  readonly server: UpstreamServer
  /** Variables or headers of the server. */
  readonly values: Readonly<Record<string, string>>
}

/** Why a server can't be behind the gate as it is. Never says a value. */
export class NotImportable extends Error {}

/** Where an entry stands. */
export type Surroundings = {
  readonly client: ClientSpec
  readonly place: Place
  /** Folder of the project whose entry it is; null for one of the person. */
  readonly project: string | null
}

const isText = (value: unknown): value is string => typeof value === 'string'

const textsOf = (value: unknown, what: string): readonly string[] => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every(isText)) return value
  throw new NotImportable(`${what} is no list of texts`)
}

const membersOf = (value: unknown, what: string): Readonly<Record<string, string>> => {
  if (value === undefined || value === null) return {}
  if (!isMembers(value)) throw new NotImportable(`${what} is no list of values by name`)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (isText(one) || typeof one === 'number' || typeof one === 'boolean')
        return [name, `${one}`]
      throw new NotImportable(`${name} of ${what} is no text`)
    }),
  )
}

/** A variable of the environment that the client, too, takes from where it was started. */
function variable({ place }: Surroundings, name: string, otherwise?: string): string {
  const value = place.env[name] ?? otherwise
  if (value !== undefined) return value
  throw new NotImportable(`it takes ${name} from the environment, where that is not set`)
}

function placeholder(around: Surroundings, name: string): string {
  if (name === 'userHome') return homeOf(around.place)
  if (name === 'pathSeparator' || name === '/') return '/'
  if ((name === 'workspaceFolder' || name === 'workspaceRoot') && around.project !== null)
    return around.project
  const [, key, otherwise] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(name) ?? []
  if (key === undefined || name.startsWith('workspace'))
    throw new NotImportable(`only ${around.client.title} can fill in \${${name}}`)
  return variable(around, key, otherwise)
}

/** A text as the client would fill it in. */
function filled(around: Surroundings, text: string): string {
  const { placeholders } = around.client
  if (placeholders === 'none') return text
  const braces = text.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => placeholder(around, name))
  if (placeholders === 'braces') return braces
  return braces.replaceAll(/\$([A-Za-z_]\w*)/g, (_, name: string) => variable(around, name))
}

const mapped = (
  values: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [name, change(text)]))

function headersOf(entry: Members, around: Surroundings): Record<string, string> {
  const given = {
    ...membersOf(entry['headers'], 'headers'),
    ...membersOf(entry['http_headers'], 'http_headers'),
  }
  const taken = mapped(membersOf(entry['env_http_headers'], 'env_http_headers'), (name) =>
    variable(around, name),
  )
  const bearer = entry['bearer_token_env_var']
  const token = isText(bearer) ? { authorization: `Bearer ${variable(around, bearer)}` } : {}
  const all = { ...mapped(given, (text) => filled(around, text)), ...taken, ...token }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}

function remoteOf(entry: Members, address: string, around: Surroundings): Definition {
  const url = filled(around, address)
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw new NotImportable('its address is none of HTTP')
  if (hasSecret(url))
    throw new NotImportable(
      'its address looks like it holds a secret, which would be shown with the server: add it by hand, with the secret in a header',
    )
  return { server: { kind: 'http', url }, values: headersOf(entry, around) }
}

/**
 * An argument as the path that it leads to, where it names something: in the sandbox there are no links, and the server
 * is not started in the folder of the project.
 */
const located = (base: string | null, text: string): string => {
  const isRelative = /^\.{1,2}(?:\/|$)/.test(text) || (!text.startsWith('-') && text.includes('/'))
  const path = isAbsolute(text) ? text : base !== null && isRelative ? resolve(base, text) : null
  return path !== null && existsSync(path) ? realpathSync(path) : text
}

/** A program by a path of its own; one that is a link is started by that name. */
const commandIn = (base: string | null, command: string): string =>
  base !== null && command.includes('/') ? resolve(base, command) : command

function programOf(entry: Members, around: Surroundings): Definition {
  const { project } = around
  // Zed once wrote a server as a command with members of its own.
  const nested = isMembers(entry['command']) ? entry['command'] : entry
  const command = nested === entry ? entry['command'] : nested['path']
  if (!isText(command) || command === '')
    throw new NotImportable('it has neither a command nor an address')
  if (entry['envFile'] !== undefined)
    throw new NotImportable('its environment is in a file (envFile)')
  const folder = entry['cwd']
  const base = isText(folder)
    ? resolve(project ?? homeOf(around.place), filled(around, folder))
    : project
  const fill = (text: string) => filled(around, text)
  const args = textsOf(nested['args'], 'args').map((text) => located(base, fill(text)))
  if (secretArguments(args).length > 0)
    throw new NotImportable(
      'one of its arguments looks like a secret, which would be shown with the server: give it by a variable',
    )
  const forwarded = textsOf(entry['env_vars'], 'env_vars').map((name) => [
    name,
    variable(around, name),
  ])
  const values = {
    ...(Object.fromEntries(forwarded) as Record<string, string>),
    ...mapped(membersOf(nested['env'], 'env'), fill),
  }
  return { server: { kind: 'stdio', command: commandIn(base, fill(command)), args }, values }
}

/** Definition in an entry, as the gate would start or reach the server. Raises `NotImportable`. */
export function readDefinition(entry: unknown, around: Surroundings): Definition {
  if (!isMembers(entry)) throw new NotImportable('its entry is no table')
  if (entry['disabled'] === true || entry['enabled'] === false)
    throw new NotImportable('it is switched off')
  if (entry['source'] === 'extension') throw new NotImportable('it comes with an extension')
  const address = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl']
  return isText(address) ? remoteOf(entry, address, around) : programOf(entry, around)
}

/** Fingerprint that is equal for servers that are the same in two clients, whatever their names. */
export const fingerprintOf = ({ server, values }: Definition): string =>
  sha256(JSON.stringify([server, Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))]))
