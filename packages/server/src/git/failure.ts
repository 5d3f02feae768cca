import { GatehouseError } from '@gatehouse/contract'

/** Message of git, short and without paths of the service. */
export const saidBy = (stderr: Uint8Array, hide: readonly string[] = []): string => {
  let text = Buffer.from(stderr).toString('utf8').toWellFormed()
  for (const path of hide) text = text.replaceAll(path, '.git')
  const lines = text
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '' && !line.startsWith('hint:'))
    .map((line) => line.replace(/^(fatal|error|warning): /, ''))
  return lines.slice(-6).join('; ').slice(0, 600) || 'it gave no reason'
}

const lockPattern = /Unable to create '[^'\n]*?\/([^'/\n]+\.lock)': File exists/

/** The lock file that stood in the way, if that is what git complains of. */
export const lockIn = (stderr: Uint8Array): string | null =>
  lockPattern.exec(Buffer.from(stderr).toString('utf8'))?.[1] ?? null

const remoteReasons: readonly (readonly [RegExp, string])[] = [
  [
    /Authentication failed|could not read (Username|Password)|terminal prompts disabled/,
    'it asks for a login, or does not take this one',
  ],
  [
    /repository '.*' not found|returned error: 404/i,
    'it has no such repository, or does not show it',
  ],
  [/returned error: 403/, 'it does not allow this'],
  [/Remote branch .* not found|couldn't find remote ref/i, 'it has no such branch'],
  [
    /CONNECT tunnel failed|Proxy CONNECT aborted|Could not resolve proxy|from proxy after CONNECT/i,
    'it cannot be reached from here',
  ],
  [/certificate|SSL|TLS/, 'no safe connection was possible'],
  [
    /unable to update url base from redirection/,
    'it redirects elsewhere; give the address it moved to',
  ],
]

/** @param said already without secrets */
export const remoteRefused = (host: string, said: string): GatehouseError => {
  const known = remoteReasons.find(([pattern]) => pattern.test(said))?.[1]
  return new GatehouseError('RemoteRefused', { host, detail: known ? `${known} (${said})` : said })
}
