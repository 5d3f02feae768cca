import { refuse } from './refuse.ts'
import type { Surroundings } from './surroundings.ts'

const httpsOf = (text: string, origin: string, what: string): URL => {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return refuse(origin, `${what} must be an address such as https://models.example/models.json`)
  }
  if (url.protocol !== 'https:') refuse(origin, `${what} must begin with https://`)
  if (url.username !== '' || url.password !== '') refuse(origin, `${what} must hold no password`)
  return url
}

const hostForm = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?$/

/** By host, where its files are fetched instead. */
export const mirrorsOf = (
  lines: readonly string[],
  { origin }: Surroundings,
): ReadonlyMap<string, string> => {
  const mirrors = new Map<string, string>()
  for (const line of lines) {
    const at = line.indexOf('=')
    const host = line.slice(0, Math.max(0, at)).trim().toLowerCase()
    if (!hostForm.test(host))
      refuse(origin, 'models.mirrors must hold host=https://mirror.example/path')
    if (mirrors.has(host)) refuse(origin, `models.mirrors has two mirrors of ${host}`)
    const url = httpsOf(line.slice(at + 1).trim(), origin, `the mirror of ${host}`)
    if (url.search !== '' || url.hash !== '')
      refuse(origin, `the mirror of ${host} must hold no query or fragment`)
    mirrors.set(host, url.href.replace(/\/$/, ''))
  }
  return mirrors
}

/** An address that something is fetched from. */
export const addressOf =
  (key: 'catalog.url' | 'upstream.client_metadata_url') =>
  (url: string | null, { origin }: Surroundings): string | null =>
    url === null ? null : httpsOf(url, origin, key).href
