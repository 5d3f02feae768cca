import { GatehouseError } from '@gatehouse/contract'
import type { Value } from './parse.ts'

export type ModelValues = {
  /** Where the catalog is published; null for none. */
  readonly catalogUrl: string | null
  readonly refreshMs: number
  /** By host, where its files are fetched instead. */
  readonly mirrors: ReadonlyMap<string, string>
  /** How long a loaded model may be idle; with how many cores it computes, 0 to choose. */
  readonly engine: { readonly idleMs: number; readonly threads: number }
}

type Key = 'catalog.url' | 'catalog.refresh' | 'models.mirrors' | 'engine.idle' | 'engine.threads'
type Get = <T extends Value>(key: Key) => T

const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}

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

function mirrorsOf(lines: readonly string[], origin: string): ReadonlyMap<string, string> {
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

/** Where models come from, checked. */
export function modelsOf(get: Get, origins: Readonly<Record<string, string>>): ModelValues {
  const [catalogUrl, lines] = [get<string | null>('catalog.url'), get<string[]>('models.mirrors')]
  const origin = (key: string) => origins[key] ?? key
  return {
    catalogUrl:
      catalogUrl === null ? null : httpsOf(catalogUrl, origin('catalog.url'), 'catalog.url').href,
    refreshMs: get<number>('catalog.refresh'),
    mirrors: mirrorsOf(lines, origin('models.mirrors')),
    engine: { idleMs: get<number>('engine.idle'), threads: get<number>('engine.threads') },
  }
}
