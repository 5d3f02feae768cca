import { upstreamsText as text } from '../../messages/upstreams.ts'

/** Fields that a person types for a server; lists have one item a line. */
export type TypedServer = {
  readonly name: string
  readonly kind: 'stdio' | 'http'
  readonly command: string
  readonly args: string
  readonly url: string
  readonly folders: string
  readonly hosts: string
  readonly environment: string
  readonly credentials: string
  readonly perAgent: boolean
}

export const blankServer: TypedServer = {
  name: '',
  kind: 'stdio',
  command: '',
  args: '',
  url: '',
  folders: '',
  hosts: '',
  environment: '',
  credentials: '',
  perAgent: true,
}

const linesOf = (written: string): string[] =>
  written
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** `NAME=value` lines. Raises an error that names the line which is none. */
function pairsOf(written: string): readonly (readonly [string, string])[] {
  return linesOf(written).map((line) => {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(text.badLine(line))
    return [line.slice(0, at).trim(), line.slice(at + 1)] as const
  })
}

const credentialOf = (value: string): { value: string } | { secret: string } =>
  value.startsWith('secret:') ? { secret: value.slice('secret:'.length) } : { value }

/** The same as the service takes it. */
export const serverOf = (typed: TypedServer) => ({
  name: typed.name.trim(),
  server:
    typed.kind === 'stdio'
      ? { kind: 'stdio' as const, command: typed.command.trim(), args: linesOf(typed.args) }
      : { kind: 'http' as const, url: typed.url.trim() },
  grants:
    typed.kind === 'stdio'
      ? {
          folders: linesOf(typed.folders).map((line) => ({
            path: line.replace(/^rw\s+/, ''),
            read_only: !/^rw\s/.test(line),
          })),
          hosts: linesOf(typed.hosts),
          environment: Object.fromEntries(pairsOf(typed.environment)),
        }
      : {},
  credentials: Object.fromEntries(
    pairsOf(typed.credentials).map(([name, value]) => [name, credentialOf(value)]),
  ),
  per_agent: typed.perAgent,
})
